package io.verbena.meta.raft;

import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCommandDescriptor;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.ReplicatedState;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle.State;
import org.apache.ratis.util.MD5FileUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;

/**
 * Applies the log to a {@link ReplicatedState}; a snapshot is one file with all of it. What it cannot apply stops it
 * for good: to skip an entry would make this member another one than the others.
 */
final class MetaStateMachine extends BaseStateMachine
{
    static final Message APPLIED = Message.valueOf("applied");
    private static final Message REFUSED = Message.valueOf("refused");
    private static final Logger LOGGER = LoggerFactory.getLogger(MetaStateMachine.class);

    private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
    private final ReplicatedState state = new ReplicatedState();
    private final GroupSignal signal = new GroupSignal();
    private volatile String failure = "";
    private volatile boolean hasLogFailed;
    private volatile long snapshotIndex = -1;

    ReplicatedState state()
    {
        return state;
    }

    /** Raised when this member has become the log's leader, and by whoever else has something for the same thread. */
    GroupSignal signal()
    {
        return signal;
    }

    @Override
    public void notifyLeaderReady()
    {
        signal.raise();
    }

    /** Why nothing is applied any more; empty while all is well. */
    String failure()
    {
        return failure;
    }

    /** Whether nothing is applied any more because the log could not be written. */
    boolean hasLogFailed()
    {
        return hasLogFailed;
    }

    /** Index of the last entry in the latest snapshot; -1: there is none. */
    long snapshotIndex()
    {
        return snapshotIndex;
    }

    @Override
    public void initialize(final RaftServer server, final RaftGroupId groupId, final RaftStorage raftStorage)
        throws IOException
    {
        super.initialize(server, groupId, raftStorage);
        storage.init(raftStorage);
        getLifeCycle().startAndTransition(this::loadSnapshot, IOException.class);
    }

    /**
     * A snapshot from the leader is about to replace those that are here. Without this state in between Ratis ends the
     * member when the snapshot has arrived.
     */
    @Override
    public synchronized void pause()
    {
        if (getLifeCycle().compareAndTransition(State.RUNNING, State.PAUSING))
        {
            getLifeCycle().transition(State.PAUSED);
        }
    }

    @Override
    public synchronized void reinitialize() throws IOException
    {
        try
        {
            getLifeCycle().startAndTransition(this::loadArrivedSnapshot, IOException.class);
        }
        catch (final IOException | RuntimeException ex)
        {
            fail("the snapshot from the leader cannot be loaded: " + ex.getMessage(), ex);
            throw ex;
        }
    }

    /** Without one the library ends the member, which then looked as if the group had removed it. */
    private void loadArrivedSnapshot() throws IOException
    {
        loadSnapshot();

        if (null == storage.getLatestSnapshot())
        {
            throw new IOException("there is none");
        }
    }

    private void loadSnapshot() throws IOException
    {
        final SingleFileSnapshotInfo latest = storage.loadLatestSnapshot();

        if (null == latest)
        {
            return;
        }

        final File file = latest.getFile().getPath().toFile();

        try
        {
            state.restore(MetaCommandDescriptor.decode(file.toString(), Files.readAllBytes(file.toPath())));
        }
        catch (final MetaStoreException ex)
        {
            throw new IOException(ex.getMessage(), ex);
        }

        setLastAppliedTermIndex(TermIndex.valueOf(state.term(), state.index()));
        snapshotIndex = state.index();
    }

    @Override
    public CompletableFuture<Message> applyTransaction(final TransactionContext transaction)
    {
        final LogEntryProto entry = transaction.getLogEntry();

        if (!failure.isEmpty())
        {
            return CompletableFuture.failedFuture(new IOException(failure));
        }

        try
        {
            final MetaCommand command = MetaCommandDescriptor.decode("entry " + entry.getIndex() + " of the log",
                entry.getStateMachineLogEntry().getLogData().toByteArray());
            final boolean isApplied = state.apply(entry.getTerm(), entry.getIndex(), command);
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            return CompletableFuture.completedFuture(isApplied ? APPLIED : REFUSED);
        }
        catch (final RuntimeException ex)
        {
            fail("entry " + entry.getIndex() + " of the log cannot be applied: " + ex.getMessage(), ex);
            return CompletableFuture.failedFuture(ex);
        }
    }

    /** Of an entry that concerns the group alone. */
    @Override
    public void notifyTermIndexUpdated(final long term, final long index)
    {
        if (failure.isEmpty())
        {
            state.apply(term, index, null);
            super.notifyTermIndexUpdated(term, index);
        }
    }

    @Override
    public void notifyLogFailed(final Throwable cause, final LogEntryProto entry)
    {
        // What is at the bottom of it: above that may be only that an entry before this one failed.
        Throwable last = cause;

        while (null != last.getCause())
        {
            last = last.getCause();
        }

        hasLogFailed = true;
        fail("the log cannot be written: " + last, cause);
    }

    /** The first failure counts: while the log ends, each entry that waits for it fails too. */
    private synchronized void fail(final String why, final Throwable cause)
    {
        if (failure.isEmpty())
        {
            LOGGER.error("this member of the group stops: {}", why, cause);
            failure = why;
        }
    }

    /** Asked over the log's own check that this member is up to date. */
    @Override
    public CompletableFuture<Message> query(final Message request)
    {
        return CompletableFuture.completedFuture(Message.valueOf(Long.toString(state.leadership().number())));
    }

    @Override
    public long takeSnapshot() throws IOException
    {
        final MetaCommand snapshot = state.snapshot();
        final TermIndex last = TermIndex.valueOf(snapshot.term(), snapshot.index());

        if (!failure.isEmpty() || last.getIndex() < 0)
        {
            return last.getIndex();
        }

        final File file = storage.getSnapshotFile(last.getTerm(), last.getIndex());
        final File unfinished = new File(file.getPath() + ".unfinished");

        try (FileChannel channel = FileChannel.open(unfinished.toPath(), StandardOpenOption.CREATE,
            StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING))
        {
            final ByteBuffer bytes = ByteBuffer.wrap(MetaCommandDescriptor.encode(snapshot));

            while (bytes.hasRemaining())
            {
                channel.write(bytes);
            }

            channel.force(true);
        }

        Files.move(unfinished.toPath(), file.toPath(), StandardCopyOption.ATOMIC_MOVE);
        storage.updateLatestSnapshot(new SingleFileSnapshotInfo(
            new FileInfo(file.toPath(), MD5FileUtil.computeAndSaveMd5ForFile(file)), last));
        snapshotIndex = last.getIndex();
        return last.getIndex();
    }

    @Override
    public SnapshotInfo getLatestSnapshot()
    {
        return storage.getLatestSnapshot();
    }

    @Override
    public StateMachineStorage getStateMachineStorage()
    {
        return storage;
    }
}
