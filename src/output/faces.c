#include "output/faces.h"

#include <stdio.h>
#include <string.h>

static bool is_assumed(const struct hs_problem *problem, int face)
{
    return (problem->assumed_faces & 1u << face) != 0;
}

/* Lists equal faces together, at the position of the first of them. */
void hs_faces_text(const struct hs_problem *problem)
{
    const int count = 2 * problem->grid.dims;
    unsigned told = 0;
    for (int face = 0; face < count; face++) {
        if (told & 1u << face)
            continue;
        const char *between = told ? "; " : "";
        for (int other = face; other < count; other++)
            if (strcmp(problem->face[other].type, problem->face[face].type) == 0 &&
                is_assumed(problem, other) == is_assumed(problem, face)) {
                printf("%s%s", between, hs_face_name(other));
                told |= 1u << other;
                between = ", ";
            }
        printf(": %s%s", problem->face[face].type,
               is_assumed(problem, face) ? " (assumed; none given)" : "");
    }
}

void hs_faces_json(struct hs_json *json, const struct hs_problem *problem)
{
    hs_json_open(json, "boundary");
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        hs_json_text(json, hs_face_name(face), problem->face[face].type);
    hs_json_close(json);
    hs_json_open_array(json, "boundary_assumed");
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        if (is_assumed(problem, face))
            hs_json_text(json, NULL, hs_face_name(face));
    hs_json_close(json);
}
