package io.verbena.embedded;

import io.verbena.protocol.request.ControlRequest;

/** A control request whose end is polled for. */
final class PolledRequest extends ControlRequest
{
    PolledRequest(
        final Kind kind, final String tableName, final long expectedRecords, final int copies, final long deadlineNs)
    {
        super(kind, tableName, expectedRecords, copies, deadlineNs);
    }

    @Override
    protected void onDone()
    {
        // polled for
    }
}
