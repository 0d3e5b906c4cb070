/* Parts of the balance: what each operator knows of its nodes and walls, and the sources. */
#ifndef HS_ENGINE_BALANCE_PARTS_H
#define HS_ENGINE_BALANCE_PARTS_H

#include "core/sum.h"
#include "engine/balance/balance.h"
#include "functions/separation.h"
#include "functions/tables.h"

/* The outermost nodes of a face, `depth` layers of them. */
struct hs_balance_layers {
    int depth;
    struct hs_box box;
    int64_t pitch[HS_AXES]; /* elements to the next node along each axis */
    void *values;           /* dense, in the problem's precision; NULL where depth is 0 */
};

struct hs_balance;

/* Sums over some of a face's nodes [W]: what leaves through each wall, and in `gross` the
 * magnitudes that cancel in that. */
struct hs_balance_sums {
    struct hs_sum *leaving; /* [wall_count] */
    double gross;
};

/* Whether a node is on a face. */
static inline bool hs_balance_is_on(const struct hs_grid *grid, int face,
                                    const int64_t node[HS_AXES])
{
    return node[face / 2] == hs_grid_face_index(grid, face);
}

/* Start of the n-th of HS_BALANCE_PARTS parts of `count` items, which threads share; no bit depends
 * on the number of threads. */
enum { HS_BALANCE_PARTS = 16 };
static inline int64_t hs_balance_part(int64_t count, int n)
{
    return count * n / HS_BALANCE_PARTS;
}

/* How the operators differ. Nodes are those of faces; temperatures are those of the step's mean. */
struct hs_balance_operator {
    /* Layers of the face that the others read: 0, 1, or 2 if a wall of it holds or prescribes. */
    int (*depth)(const struct hs_balance *balance, int face);
    /* The wall that holds or prescribes the node; and the wall of one face that would if no other
     * did. -1: none, or the node is not on that face. */
    int (*holder)(const struct hs_balance *balance, const int64_t node[HS_AXES]);
    int (*holding)(const struct hs_balance *balance, int face, const int64_t node[HS_AXES]);
    /* W/K: of the edge to the next node along an axis; J/K: of the node. */
    double (*conductance)(const struct hs_balance *balance, const int64_t node[HS_AXES], int axis);
    double (*capacity_at)(const struct hs_balance *balance, const int64_t node[HS_AXES]);
    /* Called before the others for each step. */
    void (*begin)(struct hs_balance *balance);
    /* The temperature that a wall prescribes to the node; NaN where none does. */
    double (*prescribed)(const struct hs_balance *balance, const int64_t node[HS_AXES]);
    /* Adds what leaves through the face's walls that let heat pass, for one part. */
    void (*exchange)(const struct hs_balance *balance, int face, int part,
                     struct hs_balance_sums *sums);
    /* Adds what this operator's own sources and sinks put in, and how much of it leaves through
     * walls that hold; `sunk` as in hs_reduction. NULL: nothing. */
    void (*sources)(struct hs_balance *balance, double sunk);
    void (*release)(struct hs_balance *balance); /* frees `own`; NULL: there is none */
};

/* The source that all operators have: density(x, y, z, t) of power. */
struct hs_balance_source {
    bool varies_space, varies_time; /* space: along an axis of the grid */
    double factor;                  /* W/m^3 per its unit */
    struct hs_tables tables;        /* none without memory */
    bool separates;                 /* whether the expression separates: */
    struct hs_separation separation;
    double volume;          /* m^dims, of all nodes */
    double total;           /* W, if it does not change; NaN: not found yet */
    struct hs_sum sum;      /* of numbers not in memory: over the nodes */
    double *face[HS_FACES]; /* numbers of each face's nodes: of those, and the means over the step
                             * where a wall holds and the source changes; else NULL */
};

struct hs_balance {
    const struct hs_problem *problem;
    const struct hs_balance_operator *op;
    void *own; /* the operator's */
    int wall_count;
    int wall_of_face[HS_FACES]; /* of a stencil; -1: periodic */
    struct hs_balance_source source;
    double capacity; /* J/K: of all nodes */
    bool sinks;      /* hs_reduction's sum over sinks is needed */
    /* the step that is looked at */
    struct hs_step_mean step;
    double t;                  /* s: start of the sweep */
    struct hs_stencil stencil; /* of the step's sweeps */
    double transfer[HS_AXES];  /* W/(m^2 K), for a stencil: from node to node along each axis */
    double width[HS_AXES][3];  /* m: of its control volumes: first, inside, last */
    struct hs_balance_layers mean[HS_FACES], before[HS_FACES], after[HS_FACES];
    int h_count;                                    /* of walls' h that change with time */
    struct hs_balance_layers (*weighted)[HS_FACES]; /* [h_count] with the weights of each h */
    struct hs_balance_sums all, part[HS_FACES][HS_BALANCE_PARTS]; /* all.leaving: of these, too */
    struct hs_sum put_in;
    /* results */
    struct hs_balance_terms terms;
    struct hs_balance_worst worst;
    double largest; /* term of any look */
};

/* Set op, own, wall_of_face and capacity; the source is there. */
void hs_balance_of_stencil(struct hs_balance *balance);
void hs_balance_of_network(struct hs_balance *balance);

/* Temperature of a node of the layers. */
double hs_balance_at(const struct hs_balance *balance, const struct hs_balance_layers *layers,
                     const int64_t node[HS_AXES]);

/* Adds what leaves a node through a wall, and takes it from what leaves through the wall that holds
 * the node. `gross`: the magnitudes of which `power` is the difference. */
void hs_balance_leave(struct hs_balance_sums *sums, int wall, int holder, double power,
                      double gross);

/* Adds to what sources put in. */
void hs_balance_put_in(struct hs_balance *balance, double power);

/* ---- source.c ---- */
/* The mean of a value over the step. */
double hs_balance_value_at(const struct hs_balance *balance, const struct hs_value *value,
                           const int64_t node[HS_AXES]);
double hs_balance_function(const struct hs_balance *balance,
                           const struct hs_time_function *function);

enum hs_status hs_balance_source_init(struct hs_balance *balance, struct hs_error *err);
void hs_balance_source_release(struct hs_balance_source *source);
/* Called for each step, before the next two: evaluates what walls that hold need, row by row. */
void hs_balance_source_begin(struct hs_balance *balance);
/* W, mean over the step: of all nodes, and of one node on a face. */
double hs_balance_source_total(struct hs_balance *balance);
double hs_balance_source_at(const struct hs_balance *balance, const int64_t node[HS_AXES]);

#endif
