package io.verbena.rdma.conformance.remote;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The responder's side: opens fabrics and does what it is asked to with them, one call after the other on one thread,
 * until its input ends. Runs as the main class of a process of its own, or on a thread of a test.
 */
public final class ResponderMain implements ValueCodec.References
{
    /** First byte of an answer. */
    static final int RETURNED = 0;
    /** First byte of an answer that is class and message of an exception. */
    static final int THREW = 1;
    /** Number of the object whose method {@code open} opens a fabric by name. */
    static final int ROOT = 0;

    private final ValueCodec codec = new ValueCodec(this);
    private final List<Object> objects = new ArrayList<>();
    private final Map<Object, Integer> numbers = new IdentityHashMap<>();

    private ResponderMain()
    {
        objects.add(this);
    }

    /**
     * Serves standard input and output.
     *
     * @param args none.
     * @throws IOException when the channel fails.
     */
    public static void main(final String[] args) throws IOException
    {
        final OutputStream answers = System.out;
        // Whatever prints must not come between the answers.
        System.setOut(System.err);
        serve(System.in, answers);
        System.exit(0);
    }

    /**
     * Serves until the input ends.
     *
     * @param requests from the requester's process.
     * @param answers  to it.
     * @throws IOException when the channel fails.
     */
    static void serve(final InputStream requests, final OutputStream answers) throws IOException
    {
        final ResponderMain responder = new ResponderMain();
        final DataInputStream in = new DataInputStream(new BufferedInputStream(requests));
        final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(answers));
        while (true)
        {
            try
            {
                responder.call(in, out);
            }
            catch (final EOFException ex)
            {
                return;
            }
            out.flush();
        }
    }

    /**
     * Opens a fabric.
     *
     * @param name as {@link Fabrics#open} takes it.
     * @return the fabric.
     */
    public Fabric open(final String name)
    {
        objects.subList(1, objects.size()).clear();
        numbers.clear();
        return Fabrics.open(name);
    }

    private void call(final DataInput in, final DataOutput out) throws IOException
    {
        final Object target = objects.get(in.readInt());
        final String name = in.readUTF();
        final Object[] arguments = new Object[in.readUnsignedByte()];
        for (int i = 0; i < arguments.length; i++)
        {
            arguments[i] = codec.read(in);
        }
        final Object result;
        try
        {
            result = call(target, name, arguments);
        }
        catch (final InvocationTargetException ex)
        {
            out.writeByte(THREW);
            out.writeUTF(ex.getCause().getClass().getName());
            out.writeUTF(String.valueOf(ex.getCause().getMessage()));
            return;
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new IOException("cannot call " + name + " of " + target, ex);
        }
        out.writeByte(RETURNED);
        codec.write(out, result);
        for (final Object argument : arguments)
        {
            if (ValueCodec.isMutable(argument) && !isReference(argument))
            {
                codec.write(out, argument);
            }
        }
    }

    private static Object call(final Object target, final String name, final Object[] arguments)
        throws ReflectiveOperationException
    {
        if (target instanceof final MemoryRegion region && name.equals("peek"))
        {
            return RegionMemory.bytes(region, (long)arguments[0], (int)arguments[1]);
        }
        if (target instanceof final MemoryRegion region && name.equals("poke"))
        {
            RegionMemory.put(region, (long)arguments[0], (byte[])arguments[1]);
            return null;
        }
        final List<Class<?>> types = new ArrayList<>(contracts(target));
        types.add(target instanceof ResponderMain ? ResponderMain.class : Object.class);
        for (final Class<?> type : types)
        {
            for (final Method method : type.getMethods())
            {
                if (method.getName().equals(name) && fits(method, arguments))
                {
                    return method.invoke(target, arguments);
                }
            }
        }
        throw new NoSuchMethodException(name + Arrays.toString(arguments) + " of " + target);
    }

    private static boolean fits(final Method method, final Object[] arguments)
    {
        final Class<?>[] types = method.getParameterTypes();
        if (types.length != arguments.length)
        {
            return false;
        }
        for (int i = 0; i < types.length; i++)
        {
            final boolean fits = types[i] == int.class ? arguments[i] instanceof Integer :
                types[i] == long.class ? arguments[i] instanceof Long :
                types[i] == boolean.class ? arguments[i] instanceof Boolean :
                arguments[i] == null || types[i].isInstance(arguments[i]);
            if (!fits)
            {
                return false;
            }
        }
        return true;
    }

    /** The interfaces of the contract that an object has, by itself or through interfaces of its provider. */
    private static List<Class<?>> contracts(final Object object)
    {
        final List<Class<?>> found = new ArrayList<>();
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass())
        {
            addContracts(type, found);
        }
        return found;
    }

    private static void addContracts(final Class<?> type, final List<Class<?>> found)
    {
        for (final Class<?> candidate : type.getInterfaces())
        {
            if (candidate.getPackage() != Fabric.class.getPackage())
            {
                addContracts(candidate, found);
            }
            else if (!found.contains(candidate))
            {
                found.add(candidate);
            }
        }
    }

    @Override
    public boolean isReference(final Object value)
    {
        return !value.getClass().isRecord() && !contracts(value).isEmpty();
    }

    @Override
    public void write(final DataOutput out, final Object value) throws IOException
    {
        final Integer known = numbers.get(value);
        out.writeInt(known == null ? objects.size() : known);
        if (known == null)
        {
            numbers.put(value, objects.size());
            objects.add(value);
        }
        final List<Class<?>> contracts = contracts(value);
        out.writeByte(contracts.size());
        for (final Class<?> contract : contracts)
        {
            out.writeUTF(contract.getName());
        }
    }

    @Override
    public Object read(final DataInput in) throws IOException
    {
        return objects.get(in.readInt());
    }
}
