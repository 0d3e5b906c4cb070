/* ROWS_BODY for one of the sets and precisions of instruction_sets.h, and the end of what was
 * defined for it. */
#ifdef ROWS_BODY

#include ROWS_BODY

#undef ROWS_T
#undef ROWS_V
#undef ROWS_OP
#undef ROWS_GATHER
#undef ROWS_SHIFT
#undef ROWS_NAME

#endif
