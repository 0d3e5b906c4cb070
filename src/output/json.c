#include "output/json.h"

#include "core/text.h"
#include "input/number.h"

#include <inttypes.h>
#include <math.h>

static void write_text(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const char *s = text; *s;) {
        const int length = hs_text_character(s);
        if (length == 0)              /* not UTF-8, as a file name may be: */
            fputs("\\ufffd", stream); /* the replacement character */
        else if (*s == '"' || *s == '\\')
            fprintf(stream, "\\%c", *s);
        else if (hs_text_is_control(s)) /* a C1 control's second byte is its code */
            fprintf(stream, "\\u%04x", (unsigned char)s[length - 1]);
        else
            fwrite(s, 1, (size_t)length, stream);
        s += length ? length : 1;
    }
    fputc('"', stream);
}

static void write_number(FILE *stream, double value)
{
    char text[HS_NUMBER_TEXT] = "null";
    if (isfinite(value))
        hs_number_write(value, text);
    fputs(text, stream);
}

static void begin_member(struct hs_json *json, const char *key)
{
    if (json->begun)
        fputc(',', json->stream);
    if (json->depth > 0)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    json->begun = true;
    if (key) {
        write_text(json->stream, key);
        fputs(": ", json->stream);
    }
}

static void open_with(struct hs_json *json, const char *key, char bracket)
{
    begin_member(json, key);
    fputc(bracket, json->stream);
    json->arrays = json->arrays << 1 | (bracket == '[');
    json->depth++;
    json->begun = false;
}

void hs_json_open(struct hs_json *json, const char *key)
{
    open_with(json, key, '{');
}

void hs_json_open_array(struct hs_json *json, const char *key)
{
    open_with(json, key, '[');
}

void hs_json_close(struct hs_json *json)
{
    json->depth--;
    if (json->begun)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(json->arrays & 1 ? ']' : '}', json->stream);
    json->arrays >>= 1;
    if (json->depth == 0)
        fputc('\n', json->stream);
    json->begun = true;
}

void hs_json_text(struct hs_json *json, const char *key, const char *value)
{
    begin_member(json, key);
    if (value)
        write_text(json->stream, value);
    else
        fputs("null", json->stream);
}

void hs_json_number(struct hs_json *json, const char *key, double value)
{
    begin_member(json, key);
    write_number(json->stream, value);
}

void hs_json_integer(struct hs_json *json, const char *key, int64_t value)
{
    begin_member(json, key);
    fprintf(json->stream, "%" PRId64, value);
}

void hs_json_flag(struct hs_json *json, const char *key, bool value)
{
    begin_member(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void hs_json_integers(struct hs_json *json, const char *key, const int64_t *values, int count)
{
    begin_member(json, key);
    fputc('[', json->stream);
    for (int i = 0; i < count; i++)
        fprintf(json->stream, "%s%" PRId64, i ? ", " : "", values[i]);
    fputc(']', json->stream);
}

void hs_json_numbers(struct hs_json *json, const char *key, const double *values, int count)
{
    begin_member(json, key);
    fputc('[', json->stream);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->stream);
        write_number(json->stream, values[i]);
    }
    fputc(']', json->stream);
}
