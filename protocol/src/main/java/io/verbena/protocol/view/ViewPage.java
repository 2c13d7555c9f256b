package io.verbena.protocol.view;

import java.util.List;

/**
 * Views of groups, by ascending group.
 *
 * @param views   of each group its latest record.
 * @param hasMore whether there are groups behind them.
 */
public record ViewPage(List<View> views, boolean hasMore)
{
    /** Copies the list. */
    public ViewPage
    {
        views = List.copyOf(views);
    }
}
