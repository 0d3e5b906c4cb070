#include "functions/time_function.h"

#include "functions/evaluate.h"

double hs_time_function_at(const struct hs_time_function *function, double t)
{
    const int last = function->points - 1;
    if (function->factor[0] > 0)
        return hs_time_function_at(function - function->factor[0], t) *
               hs_time_function_at(function - function->factor[1], t);
    if (function->points == 0)
        return hs_value_at(&function->value, 0.0, 0.0, 0.0, t);
    if (t <= function->time[0] || last == 0)
        return function->number[0];
    if (t >= function->time[last])
        return function->number[last];
    const int64_t i = hs_interval_of(function->time, last, t);
    const double *time = &function->time[i], *number = &function->number[i];
    return number[0] + (t - time[0]) / (time[1] - time[0]) * (number[1] - number[0]);
}

bool hs_time_function_varies(const struct hs_time_function *function)
{
    return function->factor[0] > 0 || function->points > 1 ||
           (function->points == 0 && hs_value_varies(&function->value) != 0);
}

double hs_terms_at(const struct hs_terms *terms, const struct hs_time_function *functions, double t)
{
    double sum = 0.0;
    for (int n = 0; n < terms->count; n++)
        sum += terms->weight[n] * hs_time_function_at(&functions[terms->function[n]], t);
    return sum;
}
