#include "input/fingerprint.h"

#include "core/memory.h"
#include "core/round.h"
#include "input/number.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A value in one form, allocated: a number with all its digits, anything else as written, but on
 * one line: line ends do not change the meaning of an expression. */
static char *canonical(const char *text)
{
    double number;
    char *out = hs_number_parse(text, &number) ? hs_copy(text) : hs_format("%.17g", number);
    for (char *p = out; *(p += strcspn(p, "\n\r"));)
        *p = ' ';
    return out;
}

/* Called by twalk_r: writes each setting once, in the order of paths. */
static void put_setting(const void *node, VISIT visit, void *stream)
{
    const struct hs_setting *setting = *(struct hs_setting *const *)node;
    const struct hs_option *option = setting->option;
    if ((visit != postorder && visit != leaf) || !setting->text || !option || option->loose)
        return;
    char *value = canonical(setting->text);
    char *usual = canonical(option->fallback ? option->fallback : "");
    if (!option->fallback || strcmp(value, usual) != 0) {
        fprintf(stream, "%s = %s\n", setting->path, value);
        if (setting->content)
            fprintf(stream, "%s content = %s\n", setting->path, setting->content);
    }
    free(value);
    free(usual);
}

char *hs_settings_fingerprint(const struct hs_settings *settings)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    twalk_r(settings->by_path, put_setting, stream);
    fclose(stream);
    return text;
}

/* Protects against accidents, not against deception. The CRC detects every change within 32 bits.
 * It misses one in 4e9 of other changes; Adler's sums, which are of another kind and not linear in
 * the bits, detect nearly all of those. Both are in zlib and in Python.
 *
 * In parts, by all threads; zlib combines the checksums of the parts. */
void hs_content_add(struct hs_content *content, const double *values, int64_t count)
{
    enum { PART = 1 << 17 };
    const int64_t parts = (count + PART - 1) / PART;
    struct hs_content *part = hs_new((size_t)(parts + 1) * sizeof *part);
#pragma omp parallel for schedule(static) if (parts > 1)
    for (int64_t p = 0; p < parts; p++) {
        const unsigned char *from = (const unsigned char *)(values + p * PART);
        const size_t bytes = (size_t)hs_smaller(PART, count - p * PART) * sizeof *values;
        part[p] = (struct hs_content){crc32_z(0, from, bytes), adler32_z(1, from, bytes)};
    }
    for (int64_t p = 0; p < parts; p++) {
        const z_off_t bytes = (z_off_t)hs_smaller(PART, count - p * PART) * (z_off_t)sizeof *values;
        content->crc = crc32_combine(content->crc, part[p].crc, bytes);
        content->adler = adler32_combine(content->adler, part[p].adler, bytes);
    }
    free(part);
}

char *hs_content_name(const struct hs_content *content, int dims, const int64_t *points)
{
    int64_t shape[HS_AXES] = {0};
    char name[HS_POINTS_TEXT];
    for (int axis = 0; axis < dims; axis++)
        shape[axis] = points[dims - 1 - axis];
    hs_points_name(dims, shape, " x ", name, sizeof name);
    return hs_format("%s, crc32 %08lx, adler32 %08lx", name, content->crc, content->adler);
}

char *hs_content_of_table(const struct hs_time_function *table, int points)
{
    const int64_t shape[] = {points, 2};
    struct hs_content content = HS_CONTENT_NONE;
    hs_content_add(&content, table->time, points);
    hs_content_add(&content, table->number, points);
    return hs_content_name(&content, 2, shape);
}
