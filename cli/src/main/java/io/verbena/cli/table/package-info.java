/**
 * The commands on tables: their figures, a check of their memory, a look into it.
 */
package io.verbena.cli.table;
