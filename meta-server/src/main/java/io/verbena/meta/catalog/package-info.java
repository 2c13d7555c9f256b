/** The names of tables and their opaque descriptors. Knows nothing of what a descriptor says. */
package io.verbena.meta.catalog;
