package io.verbena.raas;

import io.verbena.raas.completion.EndedBatches;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.usage.TenantUsage;

import java.util.ArrayList;
import java.util.List;

/**
 * The tenants of a context, and the order in which their listeners are called: after all completions of a poll have
 * been dispatched, in turns, and so many at most in one poll. Where there is one tenant alone, its listeners are called
 * at once.
 */
final class Tenants
{
    /** Calls a listener. */
    interface Callback
    {
        void callBack(long wrId, int status);
    }

    /** Most listeners called in one poll; more are called by the next. */
    static final int CALLBACKS_PER_POLL = 256;
    /** Listeners called in one turn, for each unit of weight. */
    static final int CALLBACKS_PER_TURN = 4;

    private final List<Tenant> all = new ArrayList<>();
    private int pending;
    private int turn;
    private int leftOfTurn;

    Tenants(final Tenant first)
    {
        all.add(first);
    }

    Tenant first()
    {
        return all.getFirst();
    }

    List<Tenant> all()
    {
        return all;
    }

    /** What each has done and uses now; a new list. */
    List<TenantUsage> usages()
    {
        return all.stream().map(Tenant::usage).toList();
    }

    /** Throws when there is one of that name. */
    void add(final Tenant tenant)
    {
        for (final Tenant other : all)
        {
            if (other.name().equals(tenant.name()))
            {
                throw new RaasMisuseException("tenant '" + tenant.name() + "': there is one of that name already");
            }
        }
        all.add(tenant);
    }

    boolean isShared()
    {
        return all.size() > 1;
    }

    /** A batch has ended; its listener is called when it is the tenant's turn. */
    void onEnded(final Tenant tenant, final long wrId, final int status)
    {
        tenant.ended().add(wrId, status);
        pending++;
    }

    /** Calls listeners, as many as may be called in one poll. */
    int callBack(final Callback callback)
    {
        int called = 0;
        while (pending > 0 && called < CALLBACKS_PER_POLL)
        {
            final Tenant tenant = all.get(turn);
            final EndedBatches ended = tenant.ended();
            if (ended.isEmpty() || leftOfTurn == 0)
            {
                turn = turn + 1 == all.size() ? 0 : turn + 1;
                leftOfTurn = CALLBACKS_PER_TURN * all.get(turn).options().weight();
                continue;
            }
            leftOfTurn--;
            final long wrId = ended.oldestWrId();
            final int status = ended.oldestStatus();
            ended.removeOldest();
            pending--;
            called++;
            callback.callBack(wrId, status);
        }
        return called;
    }
}
