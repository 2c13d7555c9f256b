package io.verbena.protocol.message;

import java.util.List;

/**
 * Failure domains of memory nodes that live, by ascending node id; those without a label are left out.
 *
 * @param domains of each.
 * @param hasMore whether there are memory nodes with a label behind them.
 */
public record FailureDomainPage(List<FailureDomain> domains, boolean hasMore)
{
    /** Copies the list. */
    public FailureDomainPage
    {
        domains = List.copyOf(domains);
    }
}
