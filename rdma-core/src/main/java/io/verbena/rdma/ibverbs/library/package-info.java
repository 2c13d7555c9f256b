/**
 * The C libraries of RDMA as they are called: structures, functions, and the rings of requests and receives that lie in
 * memory as the libraries read it. Knows nothing of devices, domains and queue pairs.
 */
package io.verbena.rdma.ibverbs.library;
