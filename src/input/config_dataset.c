/* Fields from files: where they are, their numbers, and the keys that name them. */
#include "input/config_reader.h"

#include "core/memory.h"
#include "core/round.h"
#include "core/text.h"
#include "input/field_file.h"
#include "input/fingerprint.h"
#include "input/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of two files of one name, perhaps of different cases. Warns once per key, as faces share `all`.
 */
static void doubt_file(struct hs_reader *reader, const char *key, const char *here,
                       const char *beside)
{
    struct stat one, other;
    if (!hs_settings_find(reader->settings, key)->content && stat(here, &one) == 0 &&
        stat(beside, &other) == 0 && (one.st_ino != other.st_ino || one.st_dev != other.st_dev))
        hs_doubt(reader, key,
                 "there is %s, too; the one in the current folder is read. Remove one of them, or "
                 "give the path of the one that is meant",
                 beside);
}

char *hs_locate_input(struct hs_reader *reader, const char *key)
{
    const char *file = hs_settings_text(reader->settings, key);
    if (file && file[0] == '\0')
        hs_complain(reader, key, "is empty; give the name of a file");
    if (!file || file[0] == '\0')
        return NULL;
    const char *config = reader->problem->config_path;
    const char *slash = file[0] == '/' ? NULL : strrchr(config, '/');
    char *beside = hs_format("%.*s%s", slash ? (int)(slash + 1 - config) : 0, config, file);
    const bool is_beside = access(file, F_OK) != 0 && access(beside, F_OK) == 0;
    char *path = hs_copy(is_beside ? beside : file);
    doubt_file(reader, key, file, beside);
    hs_problem_add_input(reader->problem, key, path);
    free(beside);
    return path;
}

/* A key of a group's file: "initial.file"; for a wall's number "boundary.x_min.flux_file". */
static struct hs_key file_key(const char *group, const char *name)
{
    const bool number = strncmp(group, "boundary.", 9) == 0;
    return hs_key(number ? "%s_%s" : "%s.%s", group, name);
}

/* A source and a wall act at all times; the last step of an array is not what acts in its steps. */
static void doubt_steps(struct hs_reader *reader, const char *group, const struct hs_key *key,
                        const struct hs_stored *stored)
{
    const bool acts = strcmp(group, "source") == 0 || strncmp(group, "boundary.", 9) == 0;
    if (acts && stored->steps > 1 && !hs_given(reader, file_key(group, "step").text))
        hs_doubt(reader, key->text,
                 "has %lld steps, of which the last is used at all times; give only that one. For "
                 "values that change in time give an expression or a table",
                 (long long)stored->steps);
}

struct hs_stored *hs_find_dataset(struct hs_reader *reader, const char *group,
                                  const struct hs_field_shape *shape)
{
    const struct hs_key key = file_key(group, "file"), named = file_key(group, "dataset");
    const char *dataset = hs_settings_text(reader->settings, named.text);
    int64_t step = -1;
    hs_settings_count(reader->settings, file_key(group, "step").text, &step);
    char *path = dataset && reader->grid_known ? hs_locate_input(reader, key.text) : NULL;
    if (!path)
        return NULL;
    struct hs_error why = {0};
    struct hs_stored *stored = NULL;
    const enum hs_status status = hs_field_file_find(path, dataset, step, shape, &stored, &why);
    if (hs_given(reader, named.text) && hs_npy_is_at(path))
        hs_complain(reader, named.text,
                    "%s is a .npy file, which has one array and no datasets; remove this", path);
    if (status)
        hs_settings_report(reader->settings, key.text, status, hs_error_reason(&why));
    else {
        stored->place = hs_settings_place(reader->settings, key.text);
        doubt_steps(reader, group, &key, stored);
    }
    hs_error_release(&why);
    free(path);
    return stored;
}

bool hs_take_dataset(struct hs_reader *reader, const char *group, struct hs_stored *stored,
                     const struct hs_taker *taker, double **out)
{
    const int64_t layers = hs_stored_layers(stored), plane = hs_stored_plane(stored);
    const int64_t together = out || layers < stored->together ? layers : stored->together;
    struct hs_content content = HS_CONTENT_NONE;
    double *values = malloc((size_t)(together * plane) * sizeof *values);
    bool good = values;
    if (!values)
        hs_error_add(reader->settings->err, HS_DEVICE, "%s: out of memory for %lld values of %s",
                     stored->place, (long long)(together * plane), stored->path);
    for (int64_t k = 0; k < layers && good; k += together) {
        const int64_t count = hs_smaller(together, layers - k);
        const struct hs_box box = hs_stored_box(stored, k, count);
        good = stored->read(stored, &box, values, reader->settings->err) == HS_OK;
        if (!good)
            break;
        hs_content_add(&content, values, count * plane);
        hs_stored_note(stored, values, k * plane, count * plane);
        good = !taker || taker->take(taker->self, values, k * plane, count * plane);
    }
    stored->close(stored);
    if (good)
        hs_keep_content(reader, file_key(group, "file").text,
                        hs_content_name(&content, stored->dims, stored->points));
    if (out && good)
        *out = values;
    else
        free(values);
    return good;
}

/* Order: numbers that are not labels before labels, both increasing. */
static int compare_labels(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    if (hs_is_label(a) != hs_is_label(b))
        return hs_is_label(a) ? 1 : -1;
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

/* "3 (12 nodes), 7 (1 node) and 5 more" of sorted numbers. */
static void say_labels(const double *number, int64_t count, const char *place, char *out,
                       size_t size)
{
    enum { MOST = 8 };
    int64_t distinct = 0;
    out[0] = '\0';
    for (int64_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && compare_labels(&number[first], &number[next]) == 0;)
            next++;
        if (distinct++ < MOST)
            hs_text_append(out, size, "%s%.10g (%" PRId64 " %s%s)", *out ? ", " : "", number[first],
                           next - first, place, next - first == 1 ? "" : "s");
    }
    if (distinct > MOST)
        hs_text_append(out, size, " and %" PRId64 " more", distinct - MOST);
}

void hs_complain_of_labels(struct hs_reader *reader, const char *key, double *number, int64_t count,
                           const char *place, const char *others, const char *remedy)
{
    char no_labels[512], labels[512];
    int64_t none = 0;
    qsort(number, (size_t)count, sizeof *number, compare_labels);
    while (none < count && !hs_is_label(number[none]))
        none++;
    say_labels(number, none, place, no_labels, sizeof no_labels);
    say_labels(number + none, count - none, place, labels, sizeof labels);
    if (none > 0)
        hs_complain(reader, key,
                    "the file has numbers that are no labels: %s; labels are whole "
                    "numbers from 0 to 65535%s%s%s%s",
                    no_labels, none < count ? "; and " : "", none < count ? others : "",
                    none < count ? ": " : "", labels);
    else if (count > 0)
        hs_complain(reader, key, "the file has %s: %s; %s", others, labels, remedy);
}

void hs_check_datasets(struct hs_reader *reader)
{
    static const char *const of_files[] = {"dataset", "step"};
    struct hs_settings *settings = reader->settings;
    for (size_t i = 0; i < settings->count; i++)
        for (int n = 0; n < 2; n++) {
            const struct hs_setting *setting = settings->entries[i];
            const size_t length = strlen(setting->path), tail = strlen(of_files[n]);
            if (!setting->option || length < tail ||
                strcmp(setting->path + length - tail, of_files[n]) != 0)
                continue;
            const struct hs_key file = hs_key("%.*sfile", (int)(length - tail), setting->path);
            if (hs_option_find(file.text) && !hs_given(reader, file.text) &&
                !hs_settings_is_meant(settings, file.text) &&
                hs_settings_is_sound(settings, file.text)) /* else it has been reported */
                hs_complain(reader, setting->path,
                            "belongs to %s, which is missing; give that, or remove this",
                            file.text);
        }
}
