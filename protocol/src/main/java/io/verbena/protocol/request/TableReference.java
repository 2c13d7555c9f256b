package io.verbena.protocol.request;

/**
 * A table as requests name it. The id tells two tables of one name, one after the other, apart.
 *
 * @param name of the table.
 * @param id   of the table, unique in the cluster for ever.
 */
public record TableReference(String name, int id)
{
}
