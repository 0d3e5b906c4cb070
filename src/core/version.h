/* What this program is: for --version, file attributes and reports. */
#ifndef HS_CORE_VERSION_H
#define HS_CORE_VERSION_H

const char *hs_version(void);   /* "0.1.0" */
const char *hs_commit(void);    /* "a1b2c3d"; with "-dirty" if the tree was changed */
const char *hs_libraries(void); /* those of the build: "hdf5 1.10.8, cairo 1.16.0, ..." */
const char *hs_compiler(void);  /* "gcc 12.2.0" */

#endif
