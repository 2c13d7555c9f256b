package io.verbena.rdma.verbs;

/**
 * A dynamically connected target (DCT): receives from any initiator that names its number and access key. Ready to
 * receive once created. After {@link #close()} returns no access through it lands. Closed by its creator.
 */
public interface DcTarget extends AutoCloseable
{
    /** @return its number ({@code dctn}), 24 bits, unique on its device while open. */
    int number();

    /** @return RTR; ERR when a queue it uses failed; RESET once closed. */
    QueuePairState state();

    /** @return requests refused because they named a wrong access key; -1 where the device does not tell. */
    long accessKeyViolations();

    @Override
    void close();
}
