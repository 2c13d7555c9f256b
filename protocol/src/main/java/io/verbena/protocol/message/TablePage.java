package io.verbena.protocol.message;

import java.util.List;

/**
 * Some table names in ascending order.
 *
 * @param names   as many as fit a message.
 * @param hasMore whether there are more: ask again after the last name of this page.
 */
public record TablePage(List<String> names, boolean hasMore)
{
}
