package io.verbena.rdma.conformance.remote;

import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import org.agrona.concurrent.SystemNanoClock;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The requester's side: proxies of the responder's objects, each call a request and an answer. Used by one thread.
 */
final class RemoteObjects implements ValueCodec.References
{
    private static final String UNSUPPORTED = " is not supported by this device: device=";

    private final ValueCodec codec = new ValueCodec(this);
    private final Map<Integer, Object> proxies = new HashMap<>();
    private final DataOutputStream out;
    private final DataInputStream in;

    RemoteObjects(final InputStream answers, final OutputStream requests)
    {
        in = new DataInputStream(answers);
        out = new DataOutputStream(new BufferedOutputStream(requests));
    }

    /** Opens a fabric over there; what was opened before is forgotten. */
    Fabric open(final String fabricName)
    {
        proxies.clear();
        return (Fabric)call(ResponderMain.ROOT, "open", new Object[] {fabricName});
    }

    private Object call(final int number, final String method, final Object[] arguments)
    {
        try
        {
            final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            final DataOutputStream request = new DataOutputStream(bytes);
            request.writeInt(number);
            request.writeUTF(method);
            request.writeByte(arguments.length);
            for (final Object argument : arguments)
            {
                codec.write(request, argument);
            }
            out.write(bytes.toByteArray());
            out.flush();
            if (in.readUnsignedByte() == ResponderMain.THREW)
            {
                throw failure(in.readUTF(), in.readUTF());
            }
            final Object result = codec.read(in);
            for (final Object argument : arguments)
            {
                if (ValueCodec.isMutable(argument))
                {
                    ValueCodec.copy(codec.read(in), argument);
                }
            }
            return result;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("the responder's process does not answer", ex);
        }
    }

    private static RuntimeException failure(final String type, final String message)
    {
        if (type.equals(UnsupportedVerbException.class.getName()))
        {
            final int split = message.indexOf(UNSUPPORTED);
            return new UnsupportedVerbException(message.substring(0, split),
                message.substring(split + UNSUPPORTED.length()).replaceAll(";.*", ""));
        }
        return type.equals(RdmaException.class.getName()) ? new RdmaException(message) :
            new IllegalStateException(type + " in the responder's process: " + message);
    }

    @Override
    public boolean isReference(final Object value)
    {
        return Proxy.isProxyClass(value.getClass());
    }

    @Override
    public void write(final DataOutput target, final Object value) throws IOException
    {
        target.writeInt(((RemoteObject)Proxy.getInvocationHandler(value)).number);
    }

    @Override
    public Object read(final DataInput source) throws IOException
    {
        final int number = source.readInt();
        final int count = source.readUnsignedByte();
        final List<Class<?>> contracts = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            contracts.add(contract(source.readUTF()));
        }
        if (contracts.contains(MemoryRegion.class))
        {
            contracts.add(RegionMemory.Elsewhere.class);
        }
        return proxies.computeIfAbsent(number, key -> Proxy.newProxyInstance(
            RemoteObjects.class.getClassLoader(), contracts.toArray(new Class<?>[0]), new RemoteObject(key)));
    }

    private static Class<?> contract(final String name) throws IOException
    {
        try
        {
            return Class.forName(name);
        }
        catch (final ClassNotFoundException ex)
        {
            throw new IOException("no such interface: " + name, ex);
        }
    }

    private final class RemoteObject implements InvocationHandler
    {
        private final int number;

        private RemoteObject(final int number)
        {
            this.number = number;
        }

        @Override
        public Object invoke(final Object proxy, final Method method, final Object[] arguments)
        {
            return switch (method.getName())
            {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> number;
                case "clock" -> SystemNanoClock.INSTANCE;
                case "segment" -> throw new IllegalStateException(
                    "this memory is mapped in the responder's process only; use RegionMemory");
                default -> call(number, method.getName(), arguments == null ? new Object[0] : arguments);
            };
        }
    }
}
