package io.verbena.protocol.request;

/**
 * A table as requests name it. The id distinguishes two tables that had one name, one after the other.
 *
 * @param name of the table.
 * @param id   of the table, unique in the cluster for ever.
 */
public record TableReference(String name, int id)
{
}
