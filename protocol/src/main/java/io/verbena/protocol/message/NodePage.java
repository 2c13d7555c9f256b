package io.verbena.protocol.message;

import io.verbena.raas.directory.PeerRecord;

import java.util.List;

/**
 * Some living nodes in ascending order of their numbers.
 *
 * @param membershipVersion of the view this page shows; pages of different versions do not belong together.
 * @param nodes             as many as fit a message.
 * @param hasMore           whether there are more: ask again after the last number of this page.
 */
public record NodePage(long membershipVersion, List<PeerRecord> nodes, boolean hasMore)
{
}
