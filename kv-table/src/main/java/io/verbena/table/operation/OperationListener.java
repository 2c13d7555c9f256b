package io.verbena.table.operation;

/** Hears of finished operations, on the owner thread, from within {@code TableEngine.poll()} or a batch completion. */
public interface OperationListener
{
    /**
     * Called exactly once for each accepted operation. May begin new operations. Must not throw.
     *
     * @param operation results, value and costs; valid only during the call, the slot is reused afterwards.
     */
    void onOperationComplete(Operation operation);
}
