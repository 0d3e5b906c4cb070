#include "engine/choose_method.h"

#include "core/text.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "input/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sweeps[] = "sweeps";

/* A key whose value is the name of a method. */
struct key {
    const char *path;
    enum hs_place place;
    bool solves;         /* names a method that solves, not one that advances */
    const char *besides; /* names besides those of methods, "a|b"; "" */
};
static const struct key time_key = {"time.method", HS_PLACE_METHOD, false, ""};
static const struct key steady_key = {"steady.method", HS_PLACE_STEADY, true, "auto|sweeps"};

static bool serves(const struct hs_method *method, const struct key *key)
{
    return key->solves ? method->solve != NULL : method->advance != NULL;
}

/* "auto|sweeps|spectral" */
static void names_for(const struct hs_method *const *methods, const struct key *key, char *out,
                      size_t size)
{
    snprintf(out, size, "%s", key->besides);
    for (int n = 0; methods[n]; n++)
        if (serves(methods[n], key))
            hs_text_add(out, size, "|", methods[n]->name);
}

/* The method of that name, of either key, or the one that others call so; NULL. */
static const struct hs_method *meant(const struct hs_method *const *methods, const char *name)
{
    for (int n = 0; methods[n]; n++)
        if (strcmp(methods[n]->name, name) == 0 ||
            (methods[n]->known_as && hs_text_is_among(name, methods[n]->known_as)))
            return methods[n];
    return NULL;
}

static enum hs_status unknown(const struct hs_method *const *methods,
                              const struct hs_problem *problem, const struct key *key,
                              const char *name, struct hs_error *err)
{
    char names[256], write[256];
    names_for(methods, key, names, sizeof names);
    const struct hs_method *method = meant(methods, name);
    const struct key *other = key == &time_key ? &steady_key : &time_key;
    const char *nearest = method ? NULL : hs_nearest_word(name, names);
    if (method)
        snprintf(write, sizeof write, "write %s%s\"%s\": %s",
                 serves(method, key) ? "" : other->path, serves(method, key) ? "" : " = ",
                 method->name, method->idea);
    else
        snprintf(write, sizeof write, "no such method%s%s%s", nearest ? "; did you mean \"" : "",
                 nearest ? nearest : "", nearest ? "\"?" : "");
    char *said = hs_list_said(names);
    const enum hs_status st = hs_error_add(err, HS_BAD_INPUT, "%s: %s = \"%s\": %s%s %s",
                                           hs_problem_place(problem, key->place), key->path, name,
                                           write, nearest ? " There are" : "; there are", said);
    free(said);
    return st;
}

/* HS_OK, or an error that names the config's key and says why the method cannot do the problem. */
static enum hs_status check_suits(const struct hs_method *method, const struct hs_problem *problem,
                                  const struct key *key, struct hs_error *err)
{
    struct hs_error reason = {0};
    enum hs_status st = method->suits ? method->suits(problem, &reason) : HS_OK;
    if (st)
        st = hs_error_add(err, st, "%s: %s = \"%s\": %s", hs_problem_place(problem, key->place),
                          key->path, method->name, hs_error_reason(&reason));
    hs_error_release(&reason);
    return st;
}

static enum hs_status find(const struct hs_method *const *methods, const struct hs_problem *problem,
                           const struct key *key, const char *name, const struct hs_method **out,
                           struct hs_error *err)
{
    for (int n = 0; methods[n]; n++)
        if (serves(methods[n], key) && strcmp(methods[n]->name, name) == 0) {
            *out = methods[n];
            return HS_OK;
        }
    return unknown(methods, problem, key, name, err);
}

static bool has_bound(const struct hs_problem *problem)
{
    return !isnan(problem->schedule.end) || problem->schedule.sweeps >= 0;
}

static bool is_auto(const struct hs_problem *problem)
{
    const char *name = problem->schedule.steady_method;
    return problem->schedule.steady && name && strcmp(name, "auto") == 0;
}

/* HS_OK, or the reason why "auto" does not take the solver. */
static enum hs_status check_auto(const struct hs_method *solver, const struct hs_problem *problem,
                                 struct hs_error *reason)
{
    if (!hs_ranks_can(solver))
        return hs_error_add(reason, HS_BAD_INPUT, "it cannot run on %d ranks", hs_ranks_count());
    return solver->suits ? solver->suits(problem, reason) : HS_OK;
}

/* The first solver after `after` (NULL: of all) that can do the problem; NULL: none. `why` gets the
 * others' reasons, "NAME: REASON; NAME: REASON". */
static const struct hs_method *any_solver(const struct hs_method *const *methods,
                                          const struct hs_problem *problem,
                                          const struct hs_method *after, char *why, size_t size)
{
    const struct hs_method *found = NULL;
    snprintf(why, size, "%s", "");
    for (int n = 0; methods[n] && !found && !has_bound(problem); n++) {
        struct hs_error reason = {0};
        if (methods[n] == after)
            after = NULL;
        else if (!after && methods[n]->solve) {
            if (!check_auto(methods[n], problem, &reason))
                found = methods[n];
            else
                hs_text_append(why, size, "%s%s: %s", *why ? "; " : "", methods[n]->name,
                               hs_error_reason(&reason));
        }
        hs_error_release(&reason);
    }
    return found;
}

const struct hs_method *hs_choose_next_solver(const struct hs_problem *problem,
                                              const struct hs_method *after)
{
    char why[512];
    return is_auto(problem) ? any_solver(hs_methods, problem, after, why, sizeof why) : NULL;
}

void hs_choose_say_sweeps(const struct hs_problem *problem, char *out, size_t size)
{
    snprintf(out, size, "%s", "");
    if (is_auto(problem) && any_solver(hs_methods, problem, NULL, out, size))
        snprintf(out, size, "%s", "");
}

/* Its field stands at t = 0 in the file, where a solution that decays to it has not begun to. */
static enum hs_status check_exact(const struct hs_problem *problem, const struct hs_method *solver,
                                  struct hs_error *err)
{
    if (!solver || !(hs_value_varies(&problem->exact.value) & HS_VARIES_T))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: changes with t, and the steady state that \"%s\" "
                        "finds has no time; give the solution without t, or make steady.method "
                        "\"sweeps\"",
                        hs_problem_place(problem, HS_PLACE_EXACT), solver->name);
}

/* Any initial field meets a relative tolerance of 1 or more. */
static enum hs_status check_tolerance(const struct hs_problem *problem,
                                      const struct hs_method *solver, struct hs_error *err)
{
    const double tolerance = problem->schedule.steady_tolerance;
    if (!solver || tolerance < 1.0)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: steady.tolerance = %.9g: must be < 1: with \"%s\" it is relative to "
                        "the initial field's rates of change, and only with \"sweeps\" in K; give "
                        "one such as 1e-8, or make steady.method \"sweeps\"",
                        hs_problem_place(problem, HS_PLACE_RESIDUAL), tolerance, solver->name);
}

static enum hs_status find_solver(const struct hs_method *const *methods,
                                  const struct hs_problem *problem, const struct hs_method **out,
                                  struct hs_error *err)
{
    const char *name = problem->schedule.steady_method;
    if (!problem->schedule.steady || !name || strcmp(name, sweeps) == 0)
        return HS_OK;
    if (is_auto(problem)) {
        char why[512];
        *out = any_solver(methods, problem, NULL, why, sizeof why);
        HS_TRY(check_exact(problem, *out, err));
        return check_tolerance(problem, *out, err);
    }
    HS_TRY(find(methods, problem, &steady_key, name, out, err));
    HS_TRY(check_suits(*out, problem, &steady_key, err));
    if (has_bound(problem))
        return hs_error_add(
            err, HS_BAD_INPUT,
            "%s: steady.method = \"%s\": it does not step through time, so time.%s has no meaning; "
            "remove that (on a command line: --set time={}), or make the method \"sweeps\"",
            hs_problem_place(problem, HS_PLACE_STEADY), name,
            isnan(problem->schedule.end) ? "sweeps" : "end");
    HS_TRY(check_exact(problem, *out, err));
    return check_tolerance(problem, *out, err);
}

enum hs_status hs_choose_method(const struct hs_method *const *methods,
                                const struct hs_problem *problem, const struct hs_method **method,
                                const struct hs_method **steady, struct hs_error *err)
{
    const char *name = problem->schedule.method;
    *method = methods[0];
    *steady = NULL;
    enum hs_status st = name ? find(methods, problem, &time_key, name, method, err) : HS_OK;
    const enum hs_status found = find_solver(methods, problem, steady, err);
    if (*steady) /* it goes through no time */
        *method = methods[0];
    else if (!st && name)
        st = check_suits(*method, problem, &time_key, err);
    return st ? st : found;
}
