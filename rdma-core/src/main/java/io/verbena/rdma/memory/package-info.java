/** Memory of this process alone, for tables so large that the size of their pages decides how fast a look is. */
package io.verbena.rdma.memory;
