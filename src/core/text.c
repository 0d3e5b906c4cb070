#include "core/text.h"

#include "core/memory.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int hs_text_character(const char *text)
{
    static const struct {
        unsigned char mask, lead;
        int length;
        unsigned lowest;
    } forms[] = {{0x80, 0x00, 1, 0},
                 {0xe0, 0xc0, 2, 0x80},
                 {0xf0, 0xe0, 3, 0x800},
                 {0xf8, 0xf0, 4, 0x10000}};
    const unsigned char *s = (const unsigned char *)text;
    for (int f = 0; f < 4; f++) {
        if ((s[0] & forms[f].mask) != forms[f].lead)
            continue;
        unsigned code = s[0] & (unsigned)~forms[f].mask & 0xffu;
        for (int i = 1; i < forms[f].length; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s[i] & 0x3fu);
        }
        const int surrogate = code >= 0xd800 && code < 0xe000;
        return code < forms[f].lowest || surrogate || code > 0x10ffff ? 0 : forms[f].length;
    }
    return 0;
}

bool hs_text_is_control(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0);
}

/* Bytes at the start of the text that can be shown as they are. */
static size_t shown_length(const char *text, const char *kept)
{
    size_t n = 0;
    for (int length; text[n] && (length = hs_text_character(text + n)) > 0; n += (size_t)length)
        if (hs_text_is_control(text + n) && !strchr(kept, text[n]))
            break;
    return n;
}

bool hs_text_is_plain(const char *text)
{
    return text[shown_length(text, "")] == '\0';
}

void hs_text_put(FILE *stream, const char *text, const char *kept)
{
    while (*text) {
        const size_t shown = shown_length(text, kept);
        fwrite(text, 1, shown, stream);
        text += shown;
        if (!*text)
            return;
        fputc(isspace((unsigned char)*text) ? ' ' : '?', stream);
        const int length = hs_text_character(text);
        text += length > 0 ? length : 1;
    }
}

void hs_text_put_word(FILE *stream, const char *text)
{
    if (text[0] && !text[strcspn(text, " \t\n\"'`\\$&|;<>(){}[]*?!#~")]) {
        hs_text_put(stream, text, "");
        return;
    }
    char *pieces = hs_copy(text), *rest = pieces;
    fputc('\'', stream);
    for (const char *piece; (piece = strsep(&rest, "'"));) {
        hs_text_put(stream, piece, "");
        fputs(rest ? "'\\''" : "'", stream);
    }
    free(pieces);
}

void hs_text_append(char *out, size_t size, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

void hs_text_add(char *list, size_t size, const char *between, const char *more)
{
    hs_text_append(list, size, "%s%s", *list ? between : "", more);
}

static bool is_same_letter(char typed, char known)
{
    return tolower((unsigned char)typed) == (unsigned char)known ||
           (known == '_' && strchr("- ", typed));
}

bool hs_text_is_among(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, "|");
        size_t same = 0;
        while (n == length && same < n && is_same_letter(name[same], p[same]))
            same++;
        if (n > 0 && same == n)
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

void hs_bytes_name(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    enum { LARGEST = sizeof units / sizeof *units - 1 };
    int unit = 0;
    while (bytes >= 1024.0 && unit < LARGEST) {
        bytes /= 1024.0;
        unit++;
    }
    snprintf(out, size, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
}

char hs_text_temperature_scale(const char *unit)
{
    if (hs_text_is_among(unit, "degc|°c|c|celsius|degree_celsius|degrees_celsius"))
        return 'C';
    if (hs_text_is_among(unit, "k|kelvin|kelvins|degk|degree_kelvin|degrees_kelvin"))
        return 'K';
    return hs_text_is_among(unit, "degf|°f|f|fahrenheit|degree_fahrenheit|degrees_fahrenheit|"
                                  "r|degr|°r|rankine|degree_rankine|degrees_rankine")
               ? 'F'
               : 0;
}
