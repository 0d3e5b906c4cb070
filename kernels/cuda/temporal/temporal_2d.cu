/*
 * temporal_2d: up to 4 sweeps per launch; a tile and its halo stay in shared memory throughout.
 *
 * One sweep per launch moves 2 words per point and cannot do better. Here a block loads its output
 * tile with a halo of radius*steps points and sweeps it repeatedly. Each sweep shrinks the valid
 * region by the radius on every side, until only the output tile is left:
 *
 *      + - - - - - - - - - +      loaded: (64 + 2*4) x (32 + 2*4) points for 4 sweeps, radius 1
 *      | + - - - - - - - + |      after 1 sweep
 *      | | + - - - - - + | |      after 2
 *      | | | [ 64x32 ] | | |      written after 4
 *      | | + - - - - - + | |
 *      | + - - - - - - - + |      between two halves of shared memory, one barrier a sweep
 *      + - - - - - - - - - +
 *
 * Words per point and sweep (radius 1, 4 sweeps): (1.41 + 1)/4 = 0.6 instead of 2. The price:
 * several blocks sweep the halo (1.2 times the sums), and each sum's 5 reads go to shared memory,
 * which is then the bottleneck.
 *
 * At the grid's faces nothing shrinks. Before every sweep a tile there fills the ghosts from the
 * nodes inside, with the values of that sweep's time; after it, it restores the values of held and
 * prescribed layers. On a periodic axis the halo comes from the other side. Tiles that touch no
 * face skip all that.
 *
 * Source: overlapped tiling: Krishnamoorthy et al., PLDI'07; in shared memory on GPUs: Meng and
 * Skadron, ICS'09; Holewinski, Pouchet, Sadayappan, ICS'12.
 */
#include "temporal.cuh"

HS_CUDA_SWEEP(temporal_2d)
{
    return temporal::launch<2, 3>("temporal_2d", plan, sweep, err);
}
