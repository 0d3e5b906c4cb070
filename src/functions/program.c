#include "functions/program.h"

int hs_operation_arguments(int operation)
{
    static const int8_t popped[HS_OPERATIONS] = {
#define HS_OPERATION_ARGUMENTS(name, arguments, meaning) [HS_OP_##name] = arguments,
        HS_PLAIN_OPERATIONS(HS_OPERATION_ARGUMENTS) HS_CALL_OPERATIONS(HS_OPERATION_ARGUMENTS)
#undef HS_OPERATION_ARGUMENTS
    };
    return operation < HS_OPERATIONS ? popped[operation] : 0;
}

bool hs_operation_is_call(int operation)
{
    return operation >= HS_OP_POWER && operation < HS_OPERATIONS;
}

int hs_program_depth(const struct hs_instruction *code, int length)
{
    int depth = 0, deepest = 0;
    for (int i = 0; i < length; i++) {
        depth += 1 - hs_operation_arguments(code[i].operation);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

struct hs_expression hs_expression_part(const struct hs_instruction *code, int last)
{
    struct hs_expression part = {.code = code + last + 1};
    for (int wanted = 1; wanted > 0; wanted--) {
        const int operation = (--part.code)->operation;
        part.length++;
        wanted += hs_operation_arguments(operation);
        if (operation >= HS_OP_X && operation <= HS_OP_T)
            part.varies |= (unsigned)HS_VARIES_X << (operation - HS_OP_X);
    }
    return part;
}
