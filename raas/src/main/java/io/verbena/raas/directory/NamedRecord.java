package io.verbena.raas.directory;

/**
 * Something that the owner of a view shows to all beside the nodes, under a number and a name: a table. The view does
 * not interpret the content.
 *
 * @param number  chosen by the owner.
 * @param name    1 to 65,535 bytes of UTF-8, one record each.
 * @param content shown as it is; not to be changed.
 */
public record NamedRecord(int number, String name, byte[] content)
{
}
