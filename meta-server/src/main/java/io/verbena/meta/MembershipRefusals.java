package io.verbena.meta;

import io.verbena.meta.membership.MembershipRefusedException;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;

/** Why the membership says no, as callers are answered. */
final class MembershipRefusals
{
    private MembershipRefusals()
    {
    }

    static ControlException of(final MembershipRefusedException ex)
    {
        return new ControlException(status(ex.reason()), ex.getMessage());
    }

    private static ControlStatus status(final MembershipRefusedException.Reason reason)
    {
        return switch (reason)
        {
            case UNKNOWN_NODE -> ControlStatus.UNKNOWN_NODE;
            case EXHAUSTED -> ControlStatus.EXHAUSTED;
            case TRY_LATER -> ControlStatus.UNAVAILABLE;
            case IMPOSSIBLE -> ControlStatus.INVALID_REQUEST;
        };
    }
}
