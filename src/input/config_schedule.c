/* time, steady and the cadence of output. */
#include "input/config_reader.h"

static void read_length(struct hs_reader *reader)
{
    struct hs_schedule *schedule = &reader->problem->schedule;
    const bool end = hs_given(reader, "time.end"), sweeps = hs_given(reader, "time.sweeps");
    if (end && sweeps)
        hs_complain(reader, "time.sweeps", "give end or sweeps, not both");
    else if (!end && !sweeps && !hs_given(reader, "steady"))
        hs_complain(reader, "time",
                    "missing end or sweeps; say how long the run is, or give steady");
    schedule->method = hs_read_string(reader, "time.method");
    hs_settings_number(reader->settings, "time.end", &schedule->end);
    hs_settings_count(reader->settings, "time.sweeps", &schedule->sweeps);
}

/* Raw coefficients contain an unknown step, so it is 1 unless it is given; if it is not, a time in
 * seconds has no meaning. */
static void read_step(struct hs_reader *reader)
{
    struct hs_schedule *schedule = &reader->problem->schedule;
    const bool given = hs_settings_number(reader->settings, "time.step", &schedule->step);
    hs_settings_number(reader->settings, "time.tolerance", &schedule->tolerance);
    hs_settings_number(reader->settings, "time.safety", &schedule->safety);
    if (given && hs_given(reader, "time.safety"))
        hs_doubt(reader, "time.safety",
                 "is for automatic steps, and time.step is given; remove one");
    if (!reader->problem->raw || given)
        return;
    static const char *const in_seconds[] = {"time.end", "output.interval"};
    for (int i = 0; i < 2; i++)
        if (hs_given(reader, in_seconds[i]))
            hs_complain(reader, in_seconds[i],
                        "raw coefficients do not say how long a sweep is; give time.step, or %s",
                        i == 0 ? "time.sweeps" : "output.every");
    hs_refuse(reader, "time", "step",
              "raw coefficients include the step, so \"auto\" has nothing to choose; give a "
              "number, or remove it");
    schedule->step = 1.0;
}

static void read_cadence(struct hs_reader *reader)
{
    struct hs_schedule *schedule = &reader->problem->schedule;
    if (hs_given(reader, "output.interval") && hs_given(reader, "output.every"))
        hs_complain(reader, "output.every", "give interval or every, not both");
    hs_settings_number(reader->settings, "output.interval", &schedule->output_interval);
    hs_settings_count(reader->settings, "output.every", &schedule->output_every);
    hs_settings_count(reader->settings, "output.history_every", &schedule->history_every);
}

static void read_steady(struct hs_reader *reader)
{
    struct hs_schedule *schedule = &reader->problem->schedule;
    if (!hs_given(reader, "steady"))
        return;
    if (hs_require(reader, "steady.tolerance", "give a number, as in 1e-8, or remove steady"))
        schedule->steady =
            hs_settings_number(reader->settings, "steady.tolerance", &schedule->steady_tolerance);
    hs_settings_count(reader->settings, "steady.check_every", &schedule->steady_check_every);
    schedule->steady_method = hs_read_string(reader, "steady.method");
}

void hs_read_schedule(struct hs_reader *reader)
{
    read_length(reader);
    read_step(reader);
    read_cadence(reader);
    read_steady(reader);
}
