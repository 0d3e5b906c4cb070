/* Sweeps: calls of the kernel, with all that changes with time. */
#include "core/clock.h"
#include "engine/backends/cpu_parts.h"
#include "functions/fields.h"

/* Walls that do not change in time are written until both fields have them; others always. */
static void prescribe(struct hs_backend_state *state, int slot, void *field)
{
    if (state->stale_walls == 0 && !hs_face_slots_prescribed_vary(&state->ghosts.slots))
        return;
    hs_ghosts_prescribe(&state->ghosts, slot, field);
    if (state->stale_walls > 0)
        state->stale_walls--;
}

/* The number of sweeps in the next call of the kernel. */
static int steps_at_once(const struct hs_backend_state *state, const struct hs_span *span,
                         int64_t left)
{
    if (span->keep_last && left > 1)
        left--;
    /* a source field is that of one time */
    if (!state->source.uniform && state->source.varies_time)
        return 1;
    return hs_kernel_plan_takes(&state->plan, state->plan.steps, left);
}

/* The boundary values for the times of a call lie in a ring of slots, since the last time of one
 * call is the first of the next. */
static int slot_of(const struct hs_backend_state *state, int step)
{
    return (state->first_slot + step) % state->ghosts.slots.count;
}

/* Prepares all that changes with time, for `steps` sweeps from sweep `first` of the span. */
static void prepare(struct hs_backend_state *state, const struct hs_span *span, int64_t first,
                    int steps)
{
    const struct hs_cpu_source *source = &state->source;
    hs_cpu_source_update(state, span->step, hs_span_time(span, first));
    hs_ghosts_at(&state->ghosts, slot_of(state, 0), hs_span_time(span, first));
    for (int s = 0; s < steps; s++) {
        const double t = hs_span_time(span, first + s);
        hs_ghosts_at(&state->ghosts, slot_of(state, s + 1), hs_span_time(span, first + s + 1));
        state->level[s] =
            hs_face_slots_level(&state->ghosts.slots, slot_of(state, s), slot_of(state, s + 1));
        source->value[s] =
            source->uniform ? hs_problem_source_uniform(state->problem, span->step, t) : 0.0;
    }
}

/* Writes constant walls into both fields of several sweeps of a recursion, which read them. */
static void prescribe_fields(const struct hs_backend_state *state, double t,
                             const struct hs_sweep *request)
{
    void *const fields[] = {request->out, request->recursion->last_but_one};
    for (int n = 0; n < 2; n++) {
        hs_ghosts_prescribe(&state->ghosts, slot_of(state, request->steps), fields[n]);
        hs_cpu_network_prescribe(state, t, fields[n]);
    }
}

enum hs_status hs_cpu_call(struct hs_backend_state *state, const struct hs_span *span,
                           int64_t first, int steps, void *from, void *to,
                           const struct hs_recursion *recursion, struct hs_error *err)
{
    const struct hs_cpu_source *source = &state->source;
    const double begin = hs_clock_now();
    state->threads = state->ghosts.threads = hs_team_threads(&state->team);
    prepare(state, span, first, steps);
    hs_cpu_network_update(state, span, first, steps);
    struct hs_operator op = span->op;
    op.network = state->problem->network ? &state->network.view : NULL;
    hs_ghosts_fill(&state->ghosts, slot_of(state, 0), from);
    const void *field = source->field.origin;
    const struct hs_sweep request = {
        .precision = state->problem->precision,
        .layout = state->layout,
        .box = state->interior,
        .op = &op,
        .in = from,
        .out = to,
        .steps = steps,
        .source = {.form = source->uniform ? HS_SOURCE_IS_UNIFORM : HS_SOURCE_IS_FIELD,
                   .value = source->value,
                   .field = &field},
        .face = state->problem->face,
        .level = state->level,
        .threads = state->threads,
        .scratch = state->scratch,
        .may_copy = true, /* held values are the same in all fields, or prescribed afterwards */
        .recursion = recursion,
    };
    if (recursion && steps > 1)
        prescribe_fields(state, hs_span_time(span, first + steps), &request);
    HS_TRY(state->kernel->sweep(&state->plan, &request, err));
    if (!(state->kernel->features & HS_APPLIES_WALLS))
        prescribe(state, slot_of(state, steps), to);
    hs_cpu_network_prescribe(state, hs_span_time(span, first + steps), to);
    state->first_slot = slot_of(state, steps);
    hs_team_note(&state->team, steps, hs_clock_now() - begin);
    return HS_OK;
}

enum hs_status hs_cpu_sweep(struct hs_backend_state *state, const struct hs_span *span,
                            struct hs_error *err)
{
    for (int64_t done = 0; done < span->count;) {
        const int steps = steps_at_once(state, span, span->count - done);
        HS_TRY(hs_cpu_call(state, span, done, steps, state->now.origin, state->next.origin, NULL,
                           err));
        hs_cpu_field_exchange(&state->now, &state->next);
        state->change_known = span->keep_last && steps == 1;
        done += steps;
    }
    return HS_OK;
}
