/**
 * An authority that issues certificates, for clusters that have no other one: the JDK has no public API for it. Must
 * not know what the certificates are for.
 */
package io.verbena.certificates;
