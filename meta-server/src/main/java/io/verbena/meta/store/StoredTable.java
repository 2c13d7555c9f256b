package io.verbena.meta.store;

/**
 * A table as the meta server keeps it.
 *
 * @param name       unique, see {@code TableCatalog} for what a name may be.
 * @param tableId    1 or more, never given to another table.
 * @param descriptor opaque bytes; not copied, so not to be changed by anyone.
 */
public record StoredTable(String name, int tableId, byte[] descriptor)
{
}
