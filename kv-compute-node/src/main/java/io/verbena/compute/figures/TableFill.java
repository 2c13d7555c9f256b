package io.verbena.compute.figures;

/**
 * How full a table is, estimated from groups of slots at random places.
 *
 * @param table     its name.
 * @param subtables of it, as the node knows it.
 * @param fill      part of its slots that hold a record, 0 to 1.
 */
public record TableFill(String table, int subtables, double fill)
{
}
