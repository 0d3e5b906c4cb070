#include "input/config_reader.h"

#include "core/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct hs_key hs_key(const char *format, ...)
{
    struct hs_key key;
    va_list args;
    va_start(args, format);
    vsnprintf(key.text, sizeof key.text, format, args);
    va_end(args);
    return key;
}

struct hs_key hs_found_at(const struct hs_reader *reader, double found, const int64_t node[HS_AXES])
{
    char place[120];
    hs_grid_name_node(&reader->problem->grid, node, place, sizeof place);
    return isnan(found) ? hs_key("is not a number (NaN) at %s", place) /* printf adds a sign */
                        : hs_key("is %g at %s", found, place);
}

bool hs_given(const struct hs_reader *reader, const char *key)
{
    return hs_settings_find(reader->settings, key) != NULL;
}

struct hs_key hs_first_given(const struct hs_reader *reader, const char *group, const char *names)
{
    for (char name[32]; hs_list_next(&names, '|', name, sizeof name);) {
        const struct hs_key key = hs_key("%s%s%s", group, group[0] ? "." : "", name);
        if (hs_given(reader, key.text))
            return key;
    }
    return (struct hs_key){""};
}

bool hs_require(struct hs_reader *reader, const char *key, const char *remedy)
{
    return hs_given(reader, key) || hs_complain(reader, key, "missing; %s", remedy);
}

bool hs_refuse(struct hs_reader *reader, const char *group, const char *names, const char *why)
{
    bool good = true;
    for (char name[32]; hs_list_next(&names, '|', name, sizeof name);) {
        const struct hs_key key = hs_key("%s%s%s", group, group[0] ? "." : "", name);
        if (hs_given(reader, key.text))
            good = hs_complain(reader, key.text, "%s", why);
    }
    return good;
}

bool hs_member(struct hs_reader *reader, const char *list, int n, struct hs_key *path)
{
    *path = hs_key("%s[%d]", list, n);
    return hs_require(reader, path->text, "members are numbered from 0, without gaps") &&
           !hs_settings_find(reader->settings, path->text)->bad;
}

char *hs_read_string(struct hs_reader *reader, const char *key)
{
    const char *text = hs_settings_text(reader->settings, key);
    return text ? hs_copy(text) : NULL;
}

void hs_keep_program(struct hs_reader *reader, struct hs_instruction *code)
{
    struct hs_problem *problem = reader->problem;
    problem->programs =
        hs_reserve(problem->programs, (size_t)problem->program_count, sizeof *problem->programs);
    problem->programs[problem->program_count++] = code;
}

bool hs_doubt(struct hs_reader *reader, const char *key, const char *format, ...)
{
    enum { MOST = 10 };
    va_list args;
    if (!reader->doubts || reader->doubts->count >= MOST)
        return false;
    char *place = hs_settings_place(reader->settings, key), said[300];
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    hs_error_warn(reader->doubts, place, "%s", said);
    free(place);
    return true;
}

bool hs_read_axes(struct hs_reader *reader, const char *key, bool spread, int dims,
                  const char *whose, double *out)
{
    const struct hs_setting *entry = hs_settings_find(reader->settings, key);
    if (dims == 0)
        return false;
    const bool lone = !entry || entry->kind == HS_SETTING_NUMBER;
    if (lone) {
        double value;
        if (!hs_settings_number(reader->settings, key, &value))
            return false;
        for (int axis = 0; axis < dims; axis++)
            out[axis] = value;
        if (!entry || dims == 1 || spread)
            return true;
    }
    const int length = hs_settings_length(reader->settings, key);
    if (entry->bad)
        return false;
    if (length != dims)
        return hs_complain(reader, key, "has %d number%s; %s %d ax%ss, give one for each", length,
                           length == 1 ? "" : "s", whose, dims, dims == 1 ? "i" : "e");
    bool good = true;
    for (int axis = 0; axis < dims; axis++) {
        const struct hs_key member = hs_key("%s[%d]", key, axis);
        good = hs_require(reader, member.text, "the list needs one number for each axis") &&
               hs_settings_number(reader->settings, member.text, &out[axis]) && good;
    }
    return good;
}

bool hs_read_per_axis(struct hs_reader *reader, const char *key, bool spread, double *out)
{
    return hs_read_axes(reader, key, spread, reader->problem->grid.dims, "the grid has", out);
}

void hs_keep_place(struct hs_reader *reader, enum hs_place which, const char *key)
{
    reader->problem->place[which] = hs_settings_place(reader->settings, key);
}

void hs_keep_content(struct hs_reader *reader, const char *key, char *content)
{
    struct hs_setting *setting = hs_settings_find(reader->settings, key);
    free(setting->content); /* each face that shares `all` reads its file */
    setting->content = content;
}
