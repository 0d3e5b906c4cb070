/* A program of the emulator has one kernel's sweep, and lacks those of the other descriptors. */
#define HS_WITH_CUDA 0
