/**
 * The tables that a compute node knows: which it has open, what the meta server says of them, and whether that is still
 * so. Other parts of a session open and find tables here; memory nodes, and what is done to tables, are not known here.
 */
package io.verbena.compute.catalog;
