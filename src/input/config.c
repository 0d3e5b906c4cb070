#include "input/config.h"

#include "core/memory.h"
#include "core/text.h"
#include "input/config_reader.h"
#include "input/config_text.h"
#include "input/fingerprint.h"

#include <stdio.h>

/* The text of the config, with a comment line for each override. */
static char *whole_text(const char *text, const char *const *overrides, int override_count)
{
    char *whole = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&whole, &size);
    fputs(text, stream);
    for (int i = 0; i < override_count; i++) {
        fputs("\n// --set ", stream);
        for (const char *p = overrides[i]; *p; p++)
            fputc(*p == '\n' || *p == '\r' ? ' ' : *p, stream);
    }
    if (override_count > 0)
        fputc('\n', stream);
    fclose(stream);
    return whole;
}

static void keep_overrides(const char *const *overrides, int count, struct hs_problem *out)
{
    out->overrides = hs_new(((size_t)count + 1) * sizeof *out->overrides);
    for (; out->override_count < count; out->override_count++)
        out->overrides[out->override_count] = hs_copy(overrides[out->override_count]);
}

/* Stores the locations of settings that the engine checks later, for its messages. */
static void keep_places(struct hs_reader *reader)
{
    static const char *const keys[] = {[HS_PLACE_METHOD] = "time.method",
                                       [HS_PLACE_STEADY] = "steady.method",
                                       [HS_PLACE_STEP] = "time.step",
                                       [HS_PLACE_TOLERANCE] = "time.tolerance",
                                       [HS_PLACE_END] = "time.end",
                                       [HS_PLACE_INTERVAL] = "output.interval",
                                       [HS_PLACE_EVERY] = "output.every",
                                       [HS_PLACE_HISTORY] = "output.history_every",
                                       [HS_PLACE_POINTS] = "grid.points",
                                       [HS_PLACE_STENCIL] = "stencil",
                                       [HS_PLACE_BACKEND] = "solver.backend",
                                       [HS_PLACE_KERNEL] = "solver.kernel",
                                       [HS_PLACE_MAX_ERROR] = "exact.max_error",
                                       [HS_PLACE_RESIDUAL] = "steady.tolerance"};
    for (int i = 0; i < (int)(sizeof keys / sizeof *keys); i++) {
        const struct hs_setting *setting = hs_settings_find(reader->settings, keys[i]);
        if (setting)
            reader->problem->place[i] = setting->file
                                            ? hs_format("%s:%d", setting->file, setting->line)
                                            : hs_copy(setting->by);
    }
}

/* Whether all settings that determine the steps are good. */
static bool has_steps(const struct hs_reader *reader)
{
    static const char *const keys[] = {"precision", "grid", "material",       "stencil",
                                       "boundary",  "time", "output.interval"};
    bool sound = reader->space_known;
    for (int i = 0; i < (int)(sizeof keys / sizeof *keys); i++)
        sound = sound && hs_settings_is_sound(reader->settings, keys[i]);
    return sound;
}

/* The unit is shown beside every temperature in messages. */
static void read_unit(struct hs_reader *reader)
{
    char *unit = reader->problem->temperature_unit = hs_read_string(reader, "temperature_unit");
    hs_keep_place(reader, HS_PLACE_UNIT, "temperature_unit");
    if (unit && !hs_text_is_plain(unit))
        hs_complain(reader, "temperature_unit",
                    "has control characters, or is not UTF-8; give a label, as in K or degC");
}

static void read_problem(struct hs_reader *reader)
{
    struct hs_problem *problem = reader->problem;
    const char *precision = hs_settings_text(reader->settings, "precision");
    keep_places(reader);
    problem->title = hs_read_string(reader, "title");
    read_unit(reader);
    problem->precision = precision && precision[0] == 'f' ? HS_FLOAT : HS_DOUBLE;
    hs_read_stencil_radius(reader);
    hs_read_grid(reader);
    hs_read_material(reader);
    hs_read_body(reader);
    hs_read_boundary(reader);
    hs_read_schedule(reader);
    hs_read_fields(reader);
    hs_check_datasets(reader);
    hs_read_output(reader);
    hs_check_values(reader);
    problem->steps_known = has_steps(reader);
}

enum hs_status hs_config_read(const char *path, const char *const *overrides, int override_count,
                              struct hs_config_how how, struct hs_problem *out,
                              struct hs_error *err)
{
    hs_problem_init(out);
    struct hs_error trouble = {0}; /* separate from earlier errors in err */
    struct hs_settings settings;
    hs_settings_init(&settings, path, &trouble);
    struct hs_config_text text;
    const bool parsed = hs_config_text_read(path, &settings, &text, &trouble) == HS_OK;
    if (trouble.status != HS_IO) {
        hs_config_check(&settings, 0);
        for (int i = 0; i < override_count; i++) {
            settings.by = how.last_by && i + 1 == override_count ? how.last_by : "--set";
            hs_config_override(overrides[i], &settings);
        }
        out->config_path = hs_copy(path);
        out->config_text = whole_text(text.plain, overrides, override_count);
        struct hs_reader reader = {
            .settings = &settings, .problem = out, .doubts = how.doubts, .numbers = how.numbers};
        for (size_t i = 0; i < text.count; i++) /* field files are added when they are read */
            hs_problem_add_input(out, i == 0 ? "" : "@include", text.names[i]);
        keep_overrides(overrides, override_count, out);
        if (parsed)
            read_problem(&reader);
        out->fingerprint = hs_settings_fingerprint(&settings);
    }
    const enum hs_status status = trouble.status;
    hs_error_join(err, &trouble);
    hs_settings_release(&settings);
    hs_config_text_release(&text);
    hs_error_release(&trouble);
    return status;
}
