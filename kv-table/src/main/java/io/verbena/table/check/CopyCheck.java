package io.verbena.table.check;

import java.util.ArrayList;
import java.util.List;

/**
 * What a {@link CopyChecker} found in the copies of a table.
 *
 * @param differences the first 1,000.
 * @param unjudged    one line each: what could not be found out.
 */
public record CopyCheck(List<CopyDifference> differences, List<String> unjudged)
{
    CopyCheck()
    {
        this(new ArrayList<>(), new ArrayList<>());
    }

    /** @return whether no copy is damaged; changes that nobody finished are no danger. */
    public boolean isSound()
    {
        return differences.stream().allMatch(CopyDifference::isLeft);
    }
}
