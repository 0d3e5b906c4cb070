#include "functions/drive.h"

#include "functions/evaluate.h"

double hs_drive_at(const struct hs_drive *drive, double t)
{
    const int last = drive->points - 1;
    if (drive->points == 0)
        return hs_value_at(&drive->value, 0.0, 0.0, 0.0, t);
    if (t <= drive->time[0] || last == 0)
        return drive->number[0];
    if (t >= drive->time[last])
        return drive->number[last];
    int low = 0, high = last; /* time[low] <= t < time[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (drive->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    const double part = (t - drive->time[low]) / (drive->time[high] - drive->time[low]);
    return drive->number[low] + part * (drive->number[high] - drive->number[low]);
}

bool hs_drive_varies(const struct hs_drive *drive)
{
    return drive->points > 1 || (drive->points == 0 && hs_value_varies(&drive->value) != 0);
}

double hs_forcing_at(const struct hs_forcing *forcing, const struct hs_drive *drives, double t)
{
    double sum = 0.0;
    for (int n = 0; n < forcing->count; n++)
        sum += forcing->weight[n] * hs_drive_at(&drives[forcing->drive[n]], t);
    return sum;
}
