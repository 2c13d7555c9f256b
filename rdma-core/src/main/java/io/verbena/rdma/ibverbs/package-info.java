/**
 * Real verbs: libibverbs by downcalls, on RNICs and on Soft-RoCE. Owns the struct layouts, the loading of the library,
 * the way from the contract's objects to the C ones, GID selection, and a connection service over TCP. Names of C
 * functions and fields appear here and nowhere else. Must not know who uses the verbs.
 */
package io.verbena.rdma.ibverbs;
