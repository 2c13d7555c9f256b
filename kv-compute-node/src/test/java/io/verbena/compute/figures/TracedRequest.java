package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

/** A request that is asked of nobody. */
final class TracedRequest extends OperationRequest
{
    TracedRequest(final RequestKind kind, final String table, final int keyBytes, final int valueBytes)
    {
        ask(kind, new TableReference(table, 1), new byte[keyBytes], new byte[valueBytes], 0, 0);
    }

    @Override
    protected void onDone()
    {
        throw new AssertionError("not asked of anybody");
    }
}
