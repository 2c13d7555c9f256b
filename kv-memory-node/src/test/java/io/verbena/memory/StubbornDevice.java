package io.verbena.memory;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;

/**
 * A device whose queue pairs and regions cannot be closed while a test says so, as on a host where a requester was
 * stopped inside the memory. Everything else goes to the real device.
 */
final class StubbornDevice
{
    int refusedCloses;
    private final List<Class<?>> wrapped = List.of(
        ProtectionDomain.class, QueuePair.class, MemoryRegion.class, ConnectionListener.class,
        ConnectionRequest.class);
    private int closesToRefuse;

    /** Refuses that many attempts to close a queue pair or a region from now on. */
    void refuseCloses(final int count)
    {
        closesToRefuse = count;
    }

    Device wrap(final Device device)
    {
        return (Device)proxy(Device.class, device);
    }

    private Object proxy(final Class<?> type, final Object real)
    {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, new Wrapper(real));
    }

    private Object wrapResult(final Class<?> type, final Object result)
    {
        return null != result && wrapped.contains(type) ? proxy(type, result) : result;
    }

    private static Object unwrap(final Object argument)
    {
        return null != argument && Proxy.isProxyClass(argument.getClass()) ?
            ((Wrapper)Proxy.getInvocationHandler(argument)).real : argument;
    }

    private final class Wrapper implements InvocationHandler
    {
        private final Object real;

        private Wrapper(final Object real)
        {
            this.real = real;
        }

        @Override
        public Object invoke(final Object self, final Method method, final Object[] arguments) throws Throwable
        {
            final boolean isStubborn = real instanceof QueuePair || real instanceof MemoryRegion;

            if (isStubborn && "close".equals(method.getName()) && closesToRefuse > 0)
            {
                closesToRefuse--;
                refusedCloses++;
                throw new RdmaException("a requester does not leave the memory");
            }

            for (int i = 0; null != arguments && i < arguments.length; i++)
            {
                arguments[i] = unwrap(arguments[i]);
            }

            try
            {
                return wrapResult(method.getReturnType(), method.invoke(real, arguments));
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }
    }
}
