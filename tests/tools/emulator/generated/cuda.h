/* An emulator program contains the sweep of one kernel; the other descriptors lack theirs. */
#define HS_WITH_CUDA 0
