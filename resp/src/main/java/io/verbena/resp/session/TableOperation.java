package io.verbena.resp.session;

import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.resp.codec.RespDecoder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An operation of a command, with room of its own for key, value and what is found: the arguments of the connection are
 * copied here, so that neither waits for the other. One for many commands, one after the other; by the thread of its
 * worker, except what the node calls.
 */
public final class TableOperation extends OperationRequest
{
    private static final int INITIAL_BYTES = 128;
    /** A longer key is not kept for the next command. */
    private static final int KEPT_KEY_BYTES = 1024;
    private static final VarHandle WORD =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long MIX = 0x9E3779B97F4A7C15L;
    private static final int SHIFT = 29;

    /** Hands operations to the node. */
    interface Node
    {
        /** Gives an operation to the node. By the thread of the worker. */
        void submit(TableOperation operation);

        /** Any thread: there is an answer. */
        void onAnswered(TableOperation operation);
    }

    /** Whose command an operation is for; the flags are the worker's. */
    abstract static class Owner
    {
        boolean isWaiting;
        boolean isTouched;
        /** For whom operations are; who has named no user is a client, and who has the port's password may do all. */
        PeerIdentity caller = PeerIdentity.CLIENT;

        /** Takes an answer. */
        abstract void onAnswer(TableOperation operation);

        /** Goes on wherever it stands. */
        abstract void proceed();
    }

    /** The place of an operation that a task asked for. */
    static final int OF_TASK = -1;

    private final Node node;
    private byte[] key = new byte[INITIAL_BYTES];
    private byte[] value = new byte[INITIAL_BYTES];
    private byte[] found = new byte[INITIAL_BYTES];
    private int keyLengthNow;
    private int valueLengthNow;
    private TableReference asked;
    private long expiresAtNs;
    Owner owner;
    /** Its number among the operations of its session; {@link #OF_TASK}. */
    int place;
    long keyHash;
    boolean isWrite;
    boolean isReady;
    private String failure;
    private long first;
    private long second;
    private long wantedExpiry;

    TableOperation(final Node node)
    {
        this.node = node;
    }

    /** Begins to be used for a command. */
    void begin(final Owner newOwner, final TableReference table, final long deadlineNs)
    {
        owner = newOwner;
        caller(newOwner.caller);
        place = OF_TASK;
        asked = table;
        expiresAtNs = deadlineNs;
        failure = null;
        isReady = false;
        keyLengthNow = 0;
        valueLengthNow = 0;
        first = 0;
        second = 0;
        wantedExpiry = RequestExpiry.NONE;
    }

    /** Nothing is kept of a command that is over. */
    void end()
    {
        owner = null;
        failure = null;
        forget();
        if (key.length > KEPT_KEY_BYTES)
        {
            key = new byte[INITIAL_BYTES];
        }
    }

    /** @param table that is asked from now on, in place of that of the session. */
    public void table(final TableReference table)
    {
        asked = table;
    }

    /** Takes an argument as the key. */
    public void keyOf(final RespDecoder arguments, final int i)
    {
        keyLengthNow = arguments.length(i);
        if (key.length < keyLengthNow)
        {
            key = new byte[roomFor(keyLengthNow)];
        }
        System.arraycopy(arguments.array(), arguments.offset(i), key, 0, keyLengthNow);
        keyHash = hash(key, 0, keyLengthNow);
    }

    /** Takes bytes as the key. */
    public void keyOf(final byte[] bytes, final int offset, final int lengthBytes)
    {
        key = key.length < lengthBytes ? new byte[roomFor(lengthBytes)] : key;
        System.arraycopy(bytes, offset, key, 0, lengthBytes);
        keyLengthNow = lengthBytes;
    }

    /** Takes an argument as the value to write. */
    public void valueOf(final RespDecoder arguments, final int i)
    {
        valueOf(arguments.array(), arguments.offset(i), arguments.length(i));
    }

    /** Takes bytes as the value to write. */
    public void valueOf(final byte[] bytes, final int offset, final int lengthBytes)
    {
        roomForValue(lengthBytes);
        System.arraycopy(bytes, offset, value, 0, lengthBytes);
        valueLengthNow = lengthBytes;
    }

    /** @return the array of the value to write, with this much room; what was there stays. */
    public byte[] roomForValue(final int lengthBytes)
    {
        if (value.length < lengthBytes)
        {
            value = Arrays.copyOf(value, roomFor(lengthBytes));
        }
        return value;
    }

    /** @param lengthBytes of the value to write. */
    public void writtenLength(final int lengthBytes)
    {
        valueLengthNow = lengthBytes;
    }

    /** @return length of the value to write. */
    public int writtenLength()
    {
        return valueLengthNow;
    }

    /** @return the value to write. */
    public byte[] written()
    {
        return value;
    }

    /** @return the value that was found last; its length is that of the answer that brought it. */
    public byte[] found()
    {
        return found;
    }

    private static int roomFor(final int lengthBytes)
    {
        return Integer.highestOneBit(Math.max(1, lengthBytes - 1)) * 2;
    }

    /**
     * Asks for something with key and value as they are, and hands it to the node.
     *
     * @param kind    of operation.
     * @param operand that the kind takes, or 0.
     */
    public void ask(final RequestKind kind, final long operand)
    {
        final boolean writes = switch (kind)
        {
            case PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE, APPEND -> true;
            default -> false;
        };
        ask(kind, asked, key, keyLengthNow, writes ? value : null, writes ? valueLengthNow : 0, operand, expiresAtNs);
        if (kind.takesExpiry())
        {
            askExpiry(wantedExpiry);
        }
        askInDigits();
        node.submit(this);
    }

    /** @return which deadline a record gets that the command writes, as {@link RequestExpiry} says. */
    public long wantedExpiry()
    {
        return wantedExpiry;
    }

    /** @param expiry which deadline a record gets that the command writes; none until said. */
    public void wantedExpiry(final long expiry)
    {
        wantedExpiry = expiry;
    }

    /** @return a number that the command keeps here. */
    public long first()
    {
        return first;
    }

    /** @return another one. */
    public long second()
    {
        return second;
    }

    /** Keeps two numbers of the command. */
    public void keep(final long newFirst, final long newSecond)
    {
        first = newFirst;
        second = newSecond;
    }

    /** @return whether the answer of a task's operation was taken. */
    public boolean isAnswered()
    {
        return isReady;
    }

    /** @param error that the command replies, whatever was answered; its first word is a code. */
    public void fail(final String error)
    {
        failure = error;
    }

    /** @return what to reply instead, or null. */
    public String failure()
    {
        return failure;
    }

    @Override
    public byte[] arrayFor(final int lengthBytes)
    {
        if (found.length < lengthBytes)
        {
            found = new byte[roomFor(lengthBytes)];
        }
        return found;
    }

    @Override
    protected void onDone()
    {
        node.onAnswered(this);
    }

    /** Tells keys apart; equal for equal keys. */
    static long hash(final byte[] bytes, final int offset, final int lengthBytes)
    {
        long hash = lengthBytes;
        final int end = offset + lengthBytes;
        int i = offset;
        for (; i <= end - Long.BYTES; i += Long.BYTES)
        {
            hash = mix(hash ^ (long)WORD.get(bytes, i));
        }
        long rest = 0;
        for (; i < end; i++)
        {
            rest = rest << Byte.SIZE | bytes[i] & 0xff;
        }
        return mix(hash ^ rest);
    }

    private static long mix(final long hash)
    {
        final long product = hash * MIX;
        return product ^ product >>> SHIFT;
    }
}
