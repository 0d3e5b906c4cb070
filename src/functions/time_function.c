#include "functions/time_function.h"

#include "functions/evaluate.h"

double hs_time_function_at(const struct hs_time_function *function, double t)
{
    const int last = function->points - 1;
    if (function->points == 0)
        return hs_value_at(&function->value, 0.0, 0.0, 0.0, t);
    if (t <= function->time[0] || last == 0)
        return function->number[0];
    if (t >= function->time[last])
        return function->number[last];
    int low = 0, high = last; /* time[low] <= t < time[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (function->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    const double part = (t - function->time[low]) / (function->time[high] - function->time[low]);
    return function->number[low] + part * (function->number[high] - function->number[low]);
}

bool hs_time_function_varies(const struct hs_time_function *function)
{
    return function->points > 1 ||
           (function->points == 0 && hs_value_varies(&function->value) != 0);
}

double hs_forcing_at(const struct hs_forcing *forcing, const struct hs_time_function *functions,
                     double t)
{
    double sum = 0.0;
    for (int n = 0; n < forcing->count; n++)
        sum += forcing->weight[n] * hs_time_function_at(&functions[forcing->function[n]], t);
    return sum;
}
