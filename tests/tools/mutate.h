/* Changes texts at random, reproducibly for a given seed, for tests that feed malformed input to a
 * parser. Pieces of the other texts and words of the language get in, so that not every text is
 * refused at its first letter. */
#ifndef HS_TOOLS_MUTATE_H
#define HS_TOOLS_MUTATE_H

#include <stdint.h>
#include <string.h>

enum { MUTATE_ROOM = 8192 };

struct mutator {
    uint64_t state;
    const char *const *texts; /* to start from and to take pieces of */
    int text_count;
    const char *const *words; /* of the language */
    int word_count;
    char text[MUTATE_ROOM];
    size_t length;
};

/* Knuth's MMIX generator; uses its high bits. */
static inline unsigned mutate_below(struct mutator *m, size_t limit)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return limit ? (unsigned)((m->state >> 33) % limit) : 0;
}

static inline void mutate_insert(struct mutator *m, size_t at, const char *piece, size_t count)
{
    if (m->length + count >= MUTATE_ROOM)
        return;
    memmove(m->text + at + count, m->text + at, m->length - at);
    memcpy(m->text + at, piece, count);
    m->length += count;
}

static inline void mutate_remove(struct mutator *m, size_t at, size_t count)
{
    count = count > m->length - at ? m->length - at : count;
    memmove(m->text + at, m->text + at + count, m->length - at - count);
    m->length -= count;
}

static inline void mutate_once(struct mutator *m)
{
    const size_t at = mutate_below(m, m->length + 1);
    const char *other = m->texts[mutate_below(m, (size_t)m->text_count)];
    const char *word = m->words[mutate_below(m, (size_t)m->word_count)];
    const size_t from = mutate_below(m, strlen(other));
    char one;
    switch (mutate_below(m, 7)) {
    case 0: mutate_remove(m, at, 1 + mutate_below(m, 4)); break;
    case 1: mutate_remove(m, at, 1 + mutate_below(m, 60)); break;
    case 2: mutate_insert(m, at, word, strlen(word)); break;
    case 3:
        mutate_remove(m, at, 1 + mutate_below(m, 8));
        mutate_insert(m, at, word, strlen(word));
        break;
    case 4: mutate_insert(m, at, other + from, mutate_below(m, strlen(other + from) % 80)); break;
    case 5:
        one = (char)(1 + mutate_below(m, 255));
        mutate_insert(m, at, &one, 1);
        break;
    default:
        if (at < m->length)
            m->text[at] = (char)(' ' + mutate_below(m, 95));
    }
}

/* Makes the next text in m->text, NUL-terminated. */
static inline void mutate_next(struct mutator *m)
{
    const char *base = m->texts[mutate_below(m, (size_t)m->text_count)];
    m->length = strlen(base);
    memcpy(m->text, base, m->length);
    for (unsigned n = 1 + mutate_below(m, 4); n > 0; n--)
        mutate_once(m);
    for (size_t i = 0; i < m->length; i++)
        if (m->text[i] == '\0')
            m->text[i] = ' ';
    m->text[m->length] = '\0';
}

#endif
