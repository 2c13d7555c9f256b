package io.verbena.compute;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.session.MetaLink;

import java.util.ArrayList;
import java.util.List;

/**
 * Fetches the tables that a node opens while it joins; any further one is opened by its first operation. Owned by the
 * node's thread.
 */
final class FirstTables
{
    private static final int MAX_TABLES = 64;

    private final MetaLink metaLink;
    private final long timeoutNs;
    private final List<ControlCall<TableEntry>> calls = new ArrayList<>();
    private ControlCall<TablePage> listing;
    private String failure = "";

    /** Asks for their names. */
    FirstTables(final MetaLink metaLink, final long timeoutNs)
    {
        this.metaLink = metaLink;
        this.timeoutNs = timeoutNs;
        listing = metaLink.client().tables("", timeoutNs);
    }

    int poll()
    {
        if (null == listing || !listing.isDone())
        {
            return 0;
        }
        final ControlCall<TablePage> ended = listing;
        listing = null;
        if (ControlStatus.OK != ended.status())
        {
            failure = ended.status() + " " + ended.failure();
            return 1;
        }
        ended.result().names().stream().limit(MAX_TABLES)
            .forEach((name) -> calls.add(metaLink.client().table(name, timeoutNs)));
        return 1;
    }

    /** @return why the names could not be had; empty when they could, or may yet. */
    String failure()
    {
        return failure;
    }

    /** @return whether the names are there. */
    boolean isListed()
    {
        return null == listing && failure.isEmpty();
    }

    /** @return whether all tables were answered. */
    boolean isDone()
    {
        return isListed() && calls.stream().allMatch(ControlCall::isDone);
    }

    /** @return the tables that there still are, once {@link #isDone()}. */
    List<TableEntry> found()
    {
        return calls.stream().filter((call) -> ControlStatus.OK == call.status()).map(ControlCall::result).toList();
    }
}
