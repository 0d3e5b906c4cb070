#include "input/table_file.h"

#include "core/memory.h"
#include "core/regular.h"
#include "core/text.h"
#include "input/number.h"
#include "input/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char between[] = " \t,;\r\n";

/* Splits a line into its words; returns how many, at most 3. */
static int split(char *line, char *word[3])
{
    char *rest = NULL;
    int count = 0;
    for (char *w = strtok_r(line, between, &rest); w && count < 3;
         w = strtok_r(NULL, between, &rest))
        word[count++] = w;
    return count;
}

/* Whether the line has an empty column before its second number: ",1,20" or "1,,20". */
static bool has_gap(const char *line)
{
    const size_t first = strspn(line, between), word = strcspn(line + first, between);
    const char *gap = line + first + word;
    int commas = 0;
    for (const char *c = gap; c < gap + strspn(gap, between); c++)
        commas += *c == ',' || *c == ';';
    return commas > 1 || memchr(line, ',', first) || memchr(line, ';', first);
}

/* A heading is a line of words, quoted or not. A line with a number, such as "0s, 12", is a
 * malformed row instead. */
static bool is_heading(char *const word[3], int count)
{
    double number;
    const char *first = word[0] + (word[0][0] == '"');
    return !strchr("0123456789+-.", *first) && !hs_number_is_not_finite(first) &&
           !(count > 1 && !hs_number_parse_decimal(word[1], &number));
}

/* The unit of the times by the last word over their column, as in "time_h", "t [min]" or "hours",
 * if that is one of time and not s; else "". `word`: the line's first. */
static const char *other_unit(const char *line, const char *word, char unit[8])
{
    static const char units[] =
        "|ms|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|week|weeks|month|months|yr|"
        "year|years|";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t column = strcspn(line, ",;\t");
    size_t end = line[column] ? column : (size_t)(word - line) + strcspn(word, between), begin;
    while (end > 0 && !strchr(letters, line[end - 1]))
        end--;
    for (begin = end; begin > 0 && strchr(letters, line[begin - 1]);)
        begin--;
    char wanted[12];
    const int length = snprintf(wanted, sizeof wanted, "|%.*s|", (int)(end - begin), line + begin);
    if (length > (int)sizeof wanted - 3 || length < 3)
        return "";
    for (char *c = wanted; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!strstr(units, wanted))
        return "";
    snprintf(unit, 8, "%.*s", (int)(end - begin), line + begin);
    return unit;
}

/* The last word of a column as a unit: "q [kW/m²]", "heat_kW_m^3" and kW/m2 have one spelling. */
static void unit_of_column(const char *column, size_t length, char unit[16])
{
    size_t count = 0;
    bool over = false;
    for (size_t n = 0; n < length; n++) {
        const char c = column[n];
        const bool square = c == '\xc2' && n + 1 < length && strchr("\xb2\xb3", column[n + 1]);
        const bool per = c == '_' && count > 0 && unit[count - 1] == 'W' && n + 1 < length &&
                         strchr("cm", column[n + 1]);
        if (c == '^' || c == ')' || c == ']')
            continue;
        if (!per && strchr(" _[(\"\r\n", c)) {
            over = true;
            continue;
        }
        count = over ? 0 : count - (count + 1 == 16); /* a word as long is no unit */
        over = false;
        unit[count++] = (char)(square ? (column[++n] == '\xb2' ? '2' : '3') : per ? '/' : c);
    }
    unit[count] = '\0';
}

/* Whether one of two units is the other with a prefix: cm and m, mV and V. */
static bool differ_by_prefix(const char *one, const char *other)
{
    const char *with = strlen(one) > strlen(other) ? one : other;
    const char *without = with == one ? other : one;
    return *without && strchr("numchkM", *with) && strcmp(with + 1, without) == 0;
}

/* The unit over the numbers, in `unit`, if that is known and not the one in which they are read;
 * else "". A lone letter is a temperature's unit in brackets or as in T/K only: T_C may be the
 * coolant's. */
static const char *other_number_unit(const char *line, const char *wanted, char unit[16])
{
    static const char known[] =
        "W|mW|kW|MW|W/m2|mW/m2|kW/m2|MW/m2|W/cm2|mW/cm2|kW/cm2|W/mm2|W/m3|mW/m3|kW/m3|MW/m3|W/cm3|"
        "mW/cm3|kW/cm3|W/mm3|W/l|kW/l|W/L|kW/L|%|kW/m2K|W/cm2K|mV|uV|\xc2\xb5V";
    const char *column = strpbrk(line, ",;\t");
    if (!column) { /* the second word */
        const char *word = line + strspn(line, between);
        column = word + strcspn(word, between);
    }
    column += *column != '\0';
    const size_t length = strcspn(column, ",;\t");
    char same[16];
    unit_of_column(wanted, strlen(wanted), same);
    unit_of_column(column, length, unit);
    const bool prefixed = differ_by_prefix(unit, same); /* as mmol/m3, whose "/" is no quotient */
    const char *quotient =
        prefixed || hs_list_match(known, unit) ? NULL : strchr(unit, '/'); /* P/kW */
    if (quotient)
        memmove(unit, quotient + 1, strlen(quotient));
    const char scale = hs_text_temperature_scale(unit), mine = hs_text_temperature_scale(same);
    const bool sure =
        quotient || strlen(unit) > 1 || memchr(column, '[', length) || memchr(column, '(', length);
    const bool other = hs_list_match(known, unit) > 0
                           ? strcmp(unit, same) != 0
                           : sure && (prefixed || differ_by_prefix(unit, same) ||
                                      (mine && scale && scale != mine));
    return other && same[0] ? unit : "";
}

/* A further remedy for a line that is not two numbers. */
static const char *remedy_of(const char *line)
{
    static const char digits[] = "0123456789";
    const char *comma = strchr(line, ',');
    if (strchr(line, '"'))
        return ", without quotes";
    if (strchr(line, ':'))
        return ", no date or time of day";
    const bool decimal = comma && comma > line && strchr(digits, comma[-1]) && comma[1] &&
                         strchr(digits, comma[1]) && strpbrk(line, "; \t");
    return decimal ? "; write the decimal point as \".\"" : "";
}

static enum hs_status complain_of_unit(const char *path, int line, const char *what,
                                       const char *there, const char *wanted, struct hs_error *why)
{
    return hs_error_add(why, HS_BAD_INPUT,
                        "%s:%d: the heading has the %s in %s; they are read in %s%s: convert the "
                        "numbers, and change the heading",
                        path, line, what, there, wanted,
                        strcmp(wanted, "s") && strncmp(wanted, "W/", 2) ? " (temperature_unit)"
                                                                        : "");
}

/* Whether a comment names two columns, as numpy.savetxt writes a heading: "# t [min],q_kW" or
 * "# t_min q_kW". Columns of more than two words are prose. */
static bool names_columns(const char *comment)
{
    int columns = 1, words = 0, all = 0;
    for (const char *c = comment; *c && words <= 2; c++) {
        const bool begins = !strchr(between, *c) && (c == comment || strchr(between, c[-1]));
        const bool ends = strchr(",;\t", *c);
        words = ends ? 0 : words + begins;
        columns += ends;
        all += begins;
    }
    return words <= 2 && (columns == 2 || (columns == 1 && all == 2));
}

/* Adds the point of a line; also HS_OK if the line has none. *lines: those that are not empty. */
static enum hs_status add_line(struct hs_time_function *table, int *lines, const char *path,
                               const char *wanted, int line_number, char *line,
                               struct hs_error *why)
{
    char *word[3];
    double point[2];
    char *begin = line + strspn(line, between);
    const bool first = *lines == 0; /* only it may be a heading */
    const bool commented = first && *begin == '#' && names_columns(begin + 1);
    if (commented)
        *begin = ' ';
    line[strcspn(line, "#")] = '\0';
    const char *remedy = remedy_of(line);
    const bool gap = has_gap(line);
    const bool parted = strpbrk(line, ",;\t"); /* else three words are a title */
    char unit[8], number_unit[16];
    const char *other = first ? other_unit(line, line + strspn(line, between), unit) : "";
    const char *other_number = first ? other_number_unit(line, wanted, number_unit) : "";
    const int count = split(line, word);
    if (count == 0 || (commented && !is_heading(word, count)))
        return HS_OK;
    *lines += !commented;
    if (first && is_heading(word, count)) {
        if (count > 2 && !parted)
            return HS_OK;
        if (*other)
            return complain_of_unit(path, line_number, "times", other, "s", why);
        return *other_number
                   ? complain_of_unit(path, line_number, "numbers", other_number, wanted, why)
                   : HS_OK;
    }
    if (count != 2 || gap)
        return hs_error_add(why, HS_BAD_INPUT,
                            "%s:%d: is not two numbers; each line has a time in s and a number%s",
                            path, line_number, remedy);
    for (int n = 0; n < 2; n++) {
        const char *fault = hs_number_parse_decimal(word[n], &point[n]);
        if (fault)
            return hs_error_add(why, HS_BAD_INPUT,
                                "%s:%d: \"%.40s\" %s; each line has a time in s and a number%s",
                                path, line_number, word[n], fault, remedy);
    }
    if (table->points > 0 && !(point[0] > table->time[table->points - 1]))
        return hs_error_add(
            why, HS_BAD_INPUT,
            "%s:%d: time %.9g s is not after the line before; times must increase%s", path,
            line_number, point[0],
            point[0] == table->time[table->points - 1]
                ? ": where the number jumps, let the second be a little later"
                : "");
    const size_t n = (size_t)table->points;
    table->time = hs_reserve(table->time, n, sizeof *table->time);
    table->number = hs_reserve(table->number, n, sizeof *table->number);
    table->time[n] = point[0];
    table->number[n] = point[1];
    table->points++;
    return HS_OK;
}

enum hs_status hs_table_file_read(const char *path, const char *unit, struct hs_time_function *out,
                                  struct hs_error *why)
{
    const char *reason;
    FILE *file = hs_regular_stream(path, false, &reason);
    if (!file)
        return hs_error_add(why, HS_IO, "cannot open %s: %s", path, reason);
    *out = (struct hs_time_function){.points = 0};
    int lines = 0;
    char *line = NULL;
    size_t size = 0;
    enum hs_status status = HS_OK;
    ssize_t length;
    for (int n = 1; !status && (length = getline(&line, &size, file)) >= 0; n++) {
        if (strlen(line) < (size_t)length)
            status =
                hs_error_add(why, HS_BAD_INPUT, "%s:%d: is not text: it has a zero byte", path, n);
        const bool marked = n == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0; /* a byte order mark */
        if (!status)
            status = add_line(out, &lines, path, unit, n, line + 3 * marked, why);
    }
    if (!status && ferror(file))
        status = hs_error_add(why, HS_IO, "%s: cannot be read", path);
    if (!status && out->points == 0)
        status = hs_error_add(why, HS_BAD_INPUT,
                              "%s: has no points; each line has a time in s and a number", path);
    free(line);
    fclose(file);
    if (status) {
        free(out->time);
        free(out->number);
    }
    return status;
}
