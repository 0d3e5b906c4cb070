#include "functions/program.h"

int hs_operation_arguments(int operation)
{
    switch (operation) {
#define HS_OPERATION_ARGUMENTS(name, arguments, meaning)                                           \
    case HS_OP_##name: return arguments;
        HS_EXPRESSION_OPERATIONS(HS_OPERATION_ARGUMENTS)
#undef HS_OPERATION_ARGUMENTS
    default: return 0;
    }
}

struct hs_expression hs_expression_part(const struct hs_instruction *code, int last)
{
    struct hs_expression part = {.code = code + last + 1};
    for (int wanted = 1; wanted > 0; wanted--) {
        const int operation = (--part.code)->operation;
        part.length++;
        wanted += hs_operation_arguments(operation);
        if (operation >= HS_OP_X && operation <= HS_OP_Z)
            part.varies |= (unsigned)HS_VARIES_X << (operation - HS_OP_X);
        part.varies |= operation == HS_OP_T ? HS_VARIES_T : 0u;
    }
    return part;
}
