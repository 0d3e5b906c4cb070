#include "output/study.h"

#include "input/number.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NUMBERS = 512, LONGEST_KEY = 160 }; /* more numbers than a text can hold */

/* One parsed "KEY=VALUE". */
struct item {
    char key[LONGEST_KEY];
    char text[1024];
    double numbers[MOST_NUMBERS];
    int count; /* of the numbers; 0: a text */
    bool list; /* in brackets */
};

/* Removes blanks around the text and semicolons after it, then an enclosing pair of characters. */
static void trim(char *text, const char *pair)
{
    size_t begin = strspn(text, " \t"), length = strlen(text);
    while (length > begin && strchr(" \t;", text[length - 1]))
        length--;
    if (pair && length > begin + 1 && text[begin] == pair[0] && text[length - 1] == pair[1]) {
        begin++;
        length--;
    }
    memmove(text, text + begin, length - begin);
    text[length - begin] = '\0';
}

/* Reads "[1, 2]" or "1"; count is 0 if anything is not a number. */
static void take_numbers(struct item *item)
{
    char inner[sizeof item->text];
    memcpy(inner, item->text, sizeof inner);
    item->list = inner[0] == '[' || inner[0] == '(';
    trim(inner, inner[0] == '[' ? "[]" : inner[0] == '(' ? "()" : NULL);
    for (char *at = inner; at;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        trim(at, NULL);
        if (item->count == MOST_NUMBERS || hs_number_parse(at, &item->numbers[item->count])) {
            item->count = 0;
            return;
        }
        item->count++;
        at = comma ? comma + 1 : NULL;
    }
}

static bool take_item(const char *override, struct item *out)
{
    const char *equals = strchr(override, '=');
    *out = (struct item){.count = 0};
    if (!equals)
        return false;
    snprintf(out->key, sizeof out->key, "%.*s", (int)(equals - override), override);
    snprintf(out->text, sizeof out->text, "%s", equals + 1);
    trim(out->key, NULL);
    trim(out->text, NULL);
    take_numbers(out);
    trim(out->text, "\"\"");
    return true;
}

/* Item `number`, unless a later item has the same key. */
static bool last_item(const struct hs_problem *problem, int number, struct item *out)
{
    struct item later;
    if (!take_item(problem->overrides[number], out))
        return false;
    for (int i = number + 1; i < problem->override_count; i++)
        if (take_item(problem->overrides[i], &later) && strcmp(later.key, out->key) == 0)
            return false;
    return true;
}

void hs_study_json(struct hs_json *json, const struct hs_problem *problem)
{
    struct item item;
    hs_json_open(json, "set");
    for (int i = 0; i < problem->override_count; i++) {
        if (!last_item(problem, i, &item))
            continue;
        if (item.count > 0 && item.list)
            hs_json_numbers(json, item.key, item.numbers, item.count);
        else if (item.count > 0)
            hs_json_number(json, item.key, item.numbers[0]);
        else
            hs_json_text(json, item.key, item.text);
    }
    hs_json_close(json);
}

void hs_study_attributes(struct hs_h5 *h5, hid_t root, const struct hs_problem *problem)
{
    struct item item;
    if (problem->override_count == 0)
        return;
    const hid_t group = hs_h5_group(h5, root, "set");
    for (int i = 0; i < problem->override_count; i++) {
        if (!last_item(problem, i, &item))
            continue;
        if (item.count > 0 && item.list)
            hs_h5_numbers(h5, group, item.key, item.count, item.numbers);
        else if (item.count > 0)
            hs_h5_number(h5, group, item.key, item.numbers[0]);
        else
            hs_h5_text(h5, group, item.key, item.text);
    }
    hs_h5_close(group);
}
