/* Rows of the conduction kernels, for any machine and, on x86-64, for AVX2 with FMA and for
 * AVX-512. The program selects one when it runs. */
#include "conduction_rows.h"

#include <string.h>

#define ROWS_BODY "conduction_lines.h"
#include "instruction_sets.h"

void hs_conduction_forget(void *kept)
{
    memset(kept, 0, LINE_BYTES);
}

const struct conduction_functions *hs_conduction_functions(enum hs_precision precision)
{
    return ROWS_FUNCTIONS(precision == HS_FLOAT);
}
