/**
 * Finds the providers on the class path and opens fabrics by name. Owns the syntax of fabric names; must not know what
 * a provider does.
 */
package io.verbena.rdma.fabric;
